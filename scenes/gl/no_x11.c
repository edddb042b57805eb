/* SPDX-License-Identifier: MIT */
#include "scenes/gl/window.h"

void
stage_x11_open(struct stage_window *w)
{
	(void)w;
	stage_skip("built without X11");
}

void
stage_x11_window(const struct stage *s, struct stage_window *w, unsigned long visual_id)
{
	(void)s;
	(void)visual_id;
	stage_x11_open(w);
}

void
stage_glx_open(const struct stage *s, struct stage_window *w)
{
	(void)s;
	stage_x11_open(w);
}

void *
stage_glx_context(const struct stage *s, const struct stage_window *w, void *share)
{
	(void)s;
	(void)w;
	return share;
}

bool
stage_glx_make_current(const struct stage_window *w, void *context)
{
	(void)w;
	return context != NULL;
}

void
stage_glx_swap(const struct stage_window *w)
{
	(void)w;
}

void
stage_glx_destroy(const struct stage_window *w, void *context)
{
	(void)w;
	(void)context;
}

void
stage_x11_close(struct stage_window *w)
{
	(void)w;
}
