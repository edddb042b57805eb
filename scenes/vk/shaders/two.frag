// SPDX-License-Identifier: MIT
// As shade.frag, to two attachments.
#version 450
layout(location = 0) in vec4 shade;
layout(location = 0) out vec4 colour;
layout(location = 1) out vec4 other;
void main()
{
	colour = fract(shade + vec4(gl_FragCoord.xy / 512.0, 0.0, 0.0));
	other = vec4(1.0) - colour;
}
