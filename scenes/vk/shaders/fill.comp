// SPDX-License-Identifier: MIT
// 64 invocations a group, each writes one word.
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Words { uint words[]; };
layout(push_constant) uniform Push { vec4 colour; } push;
void main()
{
	uint i = gl_GlobalInvocationID.x;
	words[i] = words[i] * 3u + i + uint(push.colour.x * 255.0);
}
