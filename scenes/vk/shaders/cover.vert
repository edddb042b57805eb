// SPDX-License-Identifier: MIT
// Every three vertices cover the whole target, which is the first quarter of the viewport in both
// directions, with one triangle. No edge comes near, and nothing sticks out of the view so far that
// llvmpipe would clip it: it shades blocks at edges twice, and everything else once.
#version 450
layout(location = 0) out vec4 shade;
layout(push_constant) uniform Push { vec4 colour; } push;
void main()
{
	int corner = gl_VertexIndex % 3;
	vec2 at = vec2(corner == 1 ? 1.9 : -1.9, corner == 2 ? 1.9 : -1.9);
	gl_Position = vec4(at, 0.5, 1.0);
	shade = push.colour + vec4(0.0, 0.0, 0.1 * float(gl_InstanceIndex), 0.0);
}
