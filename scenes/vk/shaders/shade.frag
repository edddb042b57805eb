// SPDX-License-Identifier: MIT
// A gradient over the vertices' color, so that a shifted pixel changes the checksum.
#version 450
layout(location = 0) in vec4 shade;
layout(location = 0) out vec4 colour;
void main()
{
	colour = fract(shade + vec4(gl_FragCoord.xy / 512.0, 0.0, 0.0));
}
