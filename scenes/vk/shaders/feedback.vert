// SPDX-License-Identifier: MIT
// As cover.vert, captured by transform feedback.
#version 450
layout(xfb_buffer = 0, xfb_offset = 0, xfb_stride = 16, location = 0) out vec4 shade;
layout(push_constant) uniform Push { vec4 colour; } push;
void main()
{
	int corner = gl_VertexIndex % 3;
	vec2 at = vec2(corner == 1 ? 1.9 : -1.9, corner == 2 ? 1.9 : -1.9);
	gl_Position = vec4(at, 0.5, 1.0);
	shade = push.colour;
}
