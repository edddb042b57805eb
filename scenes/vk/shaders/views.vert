// SPDX-License-Identifier: MIT
// As cover.vert, but each view gets a shade of its own.
#version 450
#extension GL_EXT_multiview : require
layout(location = 0) out vec4 shade;
layout(push_constant) uniform Push { vec4 colour; } push;
void main()
{
	int corner = gl_VertexIndex % 3;
	vec2 at = vec2(corner == 1 ? 1.9 : -1.9, corner == 2 ? 1.9 : -1.9);
	gl_Position = vec4(at, 0.5, 1.0);
	shade = push.colour + vec4(0.0, 0.0, 0.25 * float(gl_ViewIndex), 0.0);
}
