/* SPDX-License-Identifier: MIT */
/* A Direct3D 9 program for Wine: two targets a frame, argv[1] frames, then it ends by itself.
 *
 * Pass 1 draws 3 triangles in 3 draws into a texture of 128x128, pass 2 one quad of two triangles
 * with that texture into the window of 256x256. Prints how many frames it drew.
 */
#include <windows.h>
#include <d3d9.h>

#include <stdio.h>
#include <stdlib.h>

struct vertex {
	float x, y, z, w;
	DWORD color;
	float u, v;
};
#define FORMAT (D3DFVF_XYZRHW | D3DFVF_DIFFUSE | D3DFVF_TEX1)

static void
draw(IDirect3DDevice9 *device, float size, unsigned triangles)
{
	struct vertex v[6] = {
		{ 0, 0, 0, 1, 0xffff0000, 0, 0 },       { size, 0, 0, 1, 0xff00ff00, 1, 0 },
		{ 0, size, 0, 1, 0xff0000ff, 0, 1 },    { size, 0, 0, 1, 0xff00ff00, 1, 0 },
		{ size, size, 0, 1, 0xffffffff, 1, 1 }, { 0, size, 0, 1, 0xff0000ff, 0, 1 },
	};
	IDirect3DDevice9_DrawPrimitiveUP(device, D3DPT_TRIANGLELIST, triangles, v, sizeof(v[0]));
}

static int
run(IDirect3DDevice9 *device, int frames)
{
	IDirect3DTexture9 *texture;
	IDirect3DSurface9 *target, *window;
	if (FAILED(IDirect3DDevice9_CreateTexture(device, 128, 128, 1, D3DUSAGE_RENDERTARGET,
						  D3DFMT_A8R8G8B8, D3DPOOL_DEFAULT, &texture,
						  NULL)) ||
	    FAILED(IDirect3DTexture9_GetSurfaceLevel(texture, 0, &target)) ||
	    FAILED(IDirect3DDevice9_GetRenderTarget(device, 0, &window)))
		return 1;
	IDirect3DDevice9_SetFVF(device, FORMAT);
	IDirect3DDevice9_SetRenderState(device, D3DRS_LIGHTING, FALSE);
	for (int i = 0; i < frames; i++) {
		IDirect3DDevice9_BeginScene(device);
		IDirect3DDevice9_SetTexture(device, 0, NULL);
		IDirect3DDevice9_SetRenderTarget(device, 0, target);
		IDirect3DDevice9_Clear(device, 0, NULL, D3DCLEAR_TARGET, 0xff202020, 1, 0);
		for (int k = 0; k < 3; k++)
			draw(device, 128, 1);
		IDirect3DDevice9_SetRenderTarget(device, 0, window);
		IDirect3DDevice9_Clear(device, 0, NULL, D3DCLEAR_TARGET, 0xff000000, 1, 0);
		IDirect3DDevice9_SetTexture(device, 0, (IDirect3DBaseTexture9 *)texture);
		draw(device, 256, 2);
		IDirect3DDevice9_EndScene(device);
		if (FAILED(IDirect3DDevice9_Present(device, NULL, NULL, NULL, NULL)))
			return 1;
	}
	printf("%d frames\n", frames);
	return 0;
}

int
main(int argc, char **argv)
{
	int frames = argc > 1 ? atoi(argv[1]) : 20;
	WNDCLASSA class = { .lpfnWndProc = DefWindowProcA, .lpszClassName = "scene" };
	RegisterClassA(&class);
	HWND window = CreateWindowA("scene", "scene", WS_POPUP | WS_VISIBLE, 0, 0, 256,
				    256, NULL, NULL, NULL, NULL);
	IDirect3D9 *d3d = Direct3DCreate9(D3D_SDK_VERSION);
	D3DPRESENT_PARAMETERS how = {
		.Windowed = TRUE,
		.SwapEffect = D3DSWAPEFFECT_DISCARD,
		.BackBufferWidth = 256,
		.BackBufferHeight = 256,
		.BackBufferFormat = D3DFMT_X8R8G8B8,
		.hDeviceWindow = window,
		.PresentationInterval = D3DPRESENT_INTERVAL_IMMEDIATE,
	};
	IDirect3DDevice9 *device;
	if (!d3d || FAILED(IDirect3D9_CreateDevice(d3d, 0, D3DDEVTYPE_HAL, window,
						   D3DCREATE_HARDWARE_VERTEXPROCESSING,
						   &how, &device))) {
		fprintf(stderr, "no Direct3D 9 device\n");
		return 1;
	}
	return run(device, frames);
}
