/* SPDX-License-Identifier: MIT */
/* Names of internal formats. Values and names are the registry's, sorted by
 * value for a binary search. */
#include "gl_shim/image_info.h"

#include <stdlib.h>

static const struct format {
	GLenum value;
	const char *name;
} formats[] = {
	{ 0x1901, "STENCIL_INDEX" },
	{ 0x1902, "DEPTH_COMPONENT" },
	{ 0x1903, "RED" },
	{ 0x1906, "ALPHA" },
	{ 0x1907, "RGB" },
	{ 0x1908, "RGBA" },
	{ 0x1909, "LUMINANCE" },
	{ 0x190A, "LUMINANCE_ALPHA" },
	{ 0x2A10, "R3_G3_B2" },
	{ 0x803C, "ALPHA8" },
	{ 0x8040, "LUMINANCE8" },
	{ 0x8045, "LUMINANCE8_ALPHA8" },
	{ 0x8049, "INTENSITY" },
	{ 0x804B, "INTENSITY8" },
	{ 0x804F, "RGB4" },
	{ 0x8050, "RGB5" },
	{ 0x8051, "RGB8" },
	{ 0x8052, "RGB10" },
	{ 0x8053, "RGB12" },
	{ 0x8054, "RGB16" },
	{ 0x8055, "RGBA2" },
	{ 0x8056, "RGBA4" },
	{ 0x8057, "RGB5_A1" },
	{ 0x8058, "RGBA8" },
	{ 0x8059, "RGB10_A2" },
	{ 0x805A, "RGBA12" },
	{ 0x805B, "RGBA16" },
	{ 0x80E1, "BGRA" },
	{ 0x81A5, "DEPTH_COMPONENT16" },
	{ 0x81A6, "DEPTH_COMPONENT24" },
	{ 0x81A7, "DEPTH_COMPONENT32" },
	{ 0x8227, "RG" },
	{ 0x8229, "R8" },
	{ 0x822A, "R16" },
	{ 0x822B, "RG8" },
	{ 0x822C, "RG16" },
	{ 0x822D, "R16F" },
	{ 0x822E, "R32F" },
	{ 0x822F, "RG16F" },
	{ 0x8230, "RG32F" },
	{ 0x8231, "R8I" },
	{ 0x8232, "R8UI" },
	{ 0x8233, "R16I" },
	{ 0x8234, "R16UI" },
	{ 0x8235, "R32I" },
	{ 0x8236, "R32UI" },
	{ 0x8237, "RG8I" },
	{ 0x8238, "RG8UI" },
	{ 0x8239, "RG16I" },
	{ 0x823A, "RG16UI" },
	{ 0x823B, "RG32I" },
	{ 0x823C, "RG32UI" },
	{ 0x84F9, "DEPTH_STENCIL" },
	{ 0x8814, "RGBA32F" },
	{ 0x8815, "RGB32F" },
	{ 0x881A, "RGBA16F" },
	{ 0x881B, "RGB16F" },
	{ 0x88F0, "DEPTH24_STENCIL8" },
	{ 0x8C3A, "R11F_G11F_B10F" },
	{ 0x8C3D, "RGB9_E5" },
	{ 0x8C40, "SRGB" },
	{ 0x8C41, "SRGB8" },
	{ 0x8C42, "SRGB_ALPHA" },
	{ 0x8C43, "SRGB8_ALPHA8" },
	{ 0x8CAC, "DEPTH_COMPONENT32F" },
	{ 0x8CAD, "DEPTH32F_STENCIL8" },
	{ 0x8D46, "STENCIL_INDEX1" },
	{ 0x8D47, "STENCIL_INDEX4" },
	{ 0x8D48, "STENCIL_INDEX8" },
	{ 0x8D49, "STENCIL_INDEX16" },
	{ 0x8D62, "RGB565" },
	{ 0x8D70, "RGBA32UI" },
	{ 0x8D71, "RGB32UI" },
	{ 0x8D76, "RGBA16UI" },
	{ 0x8D77, "RGB16UI" },
	{ 0x8D7C, "RGBA8UI" },
	{ 0x8D7D, "RGB8UI" },
	{ 0x8D82, "RGBA32I" },
	{ 0x8D83, "RGB32I" },
	{ 0x8D88, "RGBA16I" },
	{ 0x8D89, "RGB16I" },
	{ 0x8D8E, "RGBA8I" },
	{ 0x8D8F, "RGB8I" },
	{ 0x8F94, "R8_SNORM" },
	{ 0x8F95, "RG8_SNORM" },
	{ 0x8F96, "RGB8_SNORM" },
	{ 0x8F97, "RGBA8_SNORM" },
	{ 0x8F98, "R16_SNORM" },
	{ 0x8F99, "RG16_SNORM" },
	{ 0x8F9A, "RGB16_SNORM" },
	{ 0x8F9B, "RGBA16_SNORM" },
	{ 0x906F, "RGB10_A2UI" },
	{ 0x93A1, "BGRA8" },
};

static int
compare(const void *key, const void *row)
{
	GLenum a = *(const GLenum *)key, b = ((const struct format *)row)->value;
	return a < b ? -1 : a > b;
}

const char *
gl_format_name(GLenum internal_format)
{
	if (internal_format == 3)
		return "RGB"; /* GL 1.0: a number of components */
	if (internal_format == 4)
		return "RGBA";
	const struct format *f = bsearch(&internal_format, formats,
					 sizeof(formats) / sizeof(formats[0]),
					 sizeof(formats[0]), compare);
	return f ? f->name : "?";
}
