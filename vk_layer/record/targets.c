/* SPDX-License-Identifier: MIT */
/* vk_layer/record/targets.c - maps a render pass, framebuffer or list of views to its target.
 *
 * The answer is cached with the framebuffer, or with the first view, so that the next pass that
 * begins in the same way needs only one or two table look-ups. One word describes the load
 * operations of all attachments that are written to, and one the store operations:
 * docs/passes.md.
 */
#include "layer/frame/intern.h"
#include "vk_layer/record/targets_internal.h"

#include "layer/frame/frame_part.h"
#include "vk_formats.h" /* generated: vk_format_name() and the like */

#include <stdlib.h>

/* ---- cached answers ---- */

static const struct vk_target_use *
find_use(struct vk_uses *uses, uint64_t key)
{
	struct vk_use *use = atomic_load_explicit(&uses->first, memory_order_acquire);
	while (use && use->key != key)
		use = use->next;
	return use ? &use->use : NULL;
}

static void
add_use(struct vk_uses *uses, uint64_t key, const struct vk_target_use *answer)
{
	/* An answer without a target may be better the next time. */
	if (!answer->target)
		return;
	if (atomic_fetch_add_explicit(&uses->n, 1, memory_order_relaxed) >= VK_MAX_USES) {
		atomic_fetch_sub_explicit(&uses->n, 1, memory_order_relaxed);
		return;
	}
	struct vk_use *use = malloc(sizeof(*use));
	if (!use) {
		atomic_fetch_sub_explicit(&uses->n, 1, memory_order_relaxed);
		return;
	}
	use->key = key;
	use->use = *answer;
	use->next = atomic_load_explicit(&uses->first, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&uses->first, &use->next, use,
						      memory_order_release,
						      memory_order_relaxed))
		;
}

/* ---- formats and operations ---- */

static const char *
format_name(VkFormat format)
{
	const char *name = format == VK_FORMAT_UNDEFINED ? NULL : vk_format_name(format);
	return name ? name : "?";
}

/* An unknown format may have any aspect. */
static bool
has_depth(VkFormat format)
{
	return format == VK_FORMAT_UNDEFINED || vk_format_has_depth(format);
}

static bool
has_stencil(VkFormat format)
{
	return format == VK_FORMAT_UNDEFINED || vk_format_has_stencil(format);
}

static struct tally_attachment
attachment(const struct vk_pass_attachment *a, const struct tally_target *target)
{
	return (struct tally_attachment){
		.format = format_name(a->format),
		.samples = a->samples,
		.layers = target->layers,
	};
}

/* What at least one of several attachments does. */
enum { ANY = 1, LOADS = 2, CLEARS = 4, STORES = 8, RESOLVES = 16 };

struct ops {
	unsigned color, depth; /* depth: and stencil */
};

static void
add_ops(unsigned *ops, VkAttachmentLoadOp load, VkAttachmentStoreOp store, bool resolves)
{
	*ops |= ANY | (resolves ? RESOLVES : 0);
	*ops |= load == VK_ATTACHMENT_LOAD_OP_LOAD ? LOADS : 0;
	*ops |= load == VK_ATTACHMENT_LOAD_OP_CLEAR ? CLEARS : 0;
	*ops |= store == VK_ATTACHMENT_STORE_OP_STORE ? STORES : 0;
}

static enum tally_load_op
load_of(unsigned ops)
{
	return !ops	      ? TALLY_LOAD_UNKNOWN
	       : ops & LOADS  ? TALLY_LOAD_LOAD
	       : ops & CLEARS ? TALLY_LOAD_CLEAR
			      : TALLY_LOAD_DONT_CARE;
}

static enum tally_store_op
store_of(unsigned ops)
{
	return !ops		? TALLY_STORE_UNKNOWN
	       : ops & RESOLVES ? TALLY_STORE_RESOLVE
	       : ops & STORES	? TALLY_STORE_STORE
				: TALLY_STORE_DISCARD;
}

static void
decide_ops(const struct ops *ops, struct vk_target_use *out, struct tally_target *target)
{
	const unsigned both = STORES | RESOLVES;
	out->load = load_of(ops->color | ops->depth);
	out->store = store_of(ops->color | ops->depth);
	target->color_load = load_of(ops->color);
	target->depth_load = load_of(ops->depth);
	if ((ops->color & both) != both)
		target->color_store = store_of(ops->color);
	if ((ops->depth & both) != both)
		target->depth_store = store_of(ops->depth);
}

static uint32_t
count_views(uint32_t mask)
{
	return mask ? (uint32_t)__builtin_popcount(mask) : 1;
}

static void
finish(struct vk_target_use *out, struct tally_target *target)
{
	for (uint32_t i = 0; i < target->n_color; i++)
		if (target->color[i].samples > target->samples)
			target->samples = target->color[i].samples;
	if (target->depth.samples > target->samples)
		target->samples = target->depth.samples;
	if (target->stencil.samples > target->samples)
		target->samples = target->stencil.samples;
	target->presented = out->surface >= 0;
	out->target = tally_intern_target(NULL, target);
}

static void
set_area(struct tally_target *target, const VkRect2D *area)
{
	target->width = (uint32_t)area->offset.x + area->extent.width;
	target->height = (uint32_t)area->offset.y + area->extent.height;
}

/* ---- render pass objects ---- */

/* Where the surfaces of the attachments come from: all of them are known by the framebuffer, or
 * come with the beginning of the pass. */
struct surfaces {
	const struct vk_framebuffer_known *fb; /* may be NULL */
	const VkRenderPassAttachmentBeginInfo *views; /* imageless */
	struct vk_targets *t;
};

static int64_t
surface_of(const struct surfaces *s, uint32_t attachment)
{
	if (!s->fb)
		return -1;
	if (!s->fb->imageless)
		return attachment < s->fb->n_attachments ? s->fb->views[attachment].surface : -1;
	if (!s->views || attachment >= s->views->attachmentCount)
		return -1;
	const struct vk_view_known *view = vk_handles_find(
		&s->t->objects[VK_VIEWS], VK_HANDLE_KEY(s->views->pAttachments[attachment]));
	return view ? view->surface : -1;
}

/* The first of several: color before its resolve target. */
static int64_t
find_surface(const struct vk_render_pass_known *pass, const struct surfaces *s)
{
	int64_t surface = -1;
	for (uint32_t i = 0; i < pass->n_color && surface < 0; i++)
		surface = surface_of(s, pass->color[i]);
	for (uint32_t i = 0; i < pass->n_resolve && surface < 0; i++)
		surface = surface_of(s, pass->resolve[i]);
	return surface;
}

/* The framebuffer's own, else that of an attachment, else the render pass's; NULL = none. */
static const char *
find_name(const struct vk_render_pass_known *pass, const struct vk_framebuffer_known *fb)
{
	const char *name = fb ? atomic_load_explicit(&fb->base.name, memory_order_relaxed) : NULL;
	if (!name && fb)
		name = fb->name;
	return name || !pass ? name : atomic_load_explicit(&pass->base.name, memory_order_relaxed);
}

static bool
resolves(const struct vk_pass_attachment *a)
{
	return a->resolve != VK_ATTACHMENT_UNUSED;
}

static void
describe_attachments(const struct vk_render_pass_known *pass, struct tally_target *target,
		     struct ops *ops)
{
	for (uint32_t i = 0; i < pass->n_color; i++) {
		if (pass->color[i] >= pass->n_attachments)
			continue;
		const struct vk_pass_attachment *a = &pass->attachments[pass->color[i]];
		target->color[target->n_color++] = attachment(a, target);
		add_ops(&ops->color, a->load, a->store, resolves(a));
	}
	if (pass->depth >= pass->n_attachments)
		return;
	const struct vk_pass_attachment *a = &pass->attachments[pass->depth];
	*(has_depth(a->format) ? &target->depth : &target->stencil) = attachment(a, target);
	if (has_depth(a->format))
		add_ops(&ops->depth, a->load, a->store, resolves(a));
	if (has_stencil(a->format))
		add_ops(&ops->depth, a->stencil_load, a->stencil_store, resolves(a));
}

/* Either `fb` is known, or the render pass is not; in the latter case little is reported. */
static void
describe_render_pass(const struct vk_render_pass_known *pass,
		     const struct vk_framebuffer_known *fb, const VkRect2D *area,
		     struct vk_target_use *out)
{
	struct tally_target target = { .name = find_name(pass, fb) };
	struct ops ops = { 0 };
	target.layers = fb ? fb->layers : 1;
	if (fb) {
		target.width = fb->width;
		target.height = fb->height;
	} else {
		set_area(&target, area);
	}
	if (pass) {
		if (pass->view_mask)
			target.layers = out->views;
		describe_attachments(pass, &target, &ops);
	} else {
		target.n_color = 1;
		target.color[0] = (struct tally_attachment){ "?", 0, target.layers };
	}
	decide_ops(&ops, out, &target);
	finish(out, &target);
}

/* The cached answer, or NULL and its key. */
static const struct vk_target_use *
find_known(const struct vk_render_pass_known *pass, struct vk_framebuffer_known *fb,
	   int64_t surface, uint64_t *key)
{
	/* Serials are small: the surface has the upper bits to itself. */
	*key = pass->base.serial ^ (uint64_t)(surface + 1) << 48;
	return fb ? find_use(&fb->base.uses, *key) : NULL;
}

const struct vk_target_use *
vk_target_of_render_pass(struct vk_device *d, const VkRenderPassBeginInfo *info,
			 struct vk_target_use *scratch)
{
	static const struct vk_target_use unknown = {
		.surface = -1, .views = 1, .subpasses = 1
	};
	struct vk_targets *t = d->targets;
	struct vk_framebuffer_known *fb = vk_handles_find(&t->objects[VK_FRAMEBUFFERS],
							  VK_HANDLE_KEY(info->framebuffer));
	const struct vk_render_pass_known *pass = vk_handles_find(
		&t->objects[VK_RENDER_PASSES], VK_HANDLE_KEY(info->renderPass));
	uint64_t key = 0;
	const struct vk_target_use *known = NULL;
	if (pass && !(fb && fb->imageless))
		known = find_known(pass, fb, -1, &key);
	if (known)
		return known;
	*scratch = unknown;
	if (pass) {
		struct surfaces surfaces = { .fb = fb, .t = t };
		if (fb && fb->imageless)
			surfaces.views = vk_find_in_chain(
				info->pNext,
				VK_STRUCTURE_TYPE_RENDER_PASS_ATTACHMENT_BEGIN_INFO);
		if (fb)
			scratch->surface = find_surface(pass, &surfaces);
		if (fb && fb->imageless)
			known = find_known(pass, fb, scratch->surface, &key);
		if (known)
			return known;
		scratch->views = count_views(pass->view_mask);
		scratch->subpasses = pass->subpasses;
	}
	describe_render_pass(pass, fb, &info->renderArea, scratch);
	if (pass && fb)
		add_use(&fb->base.uses, key, scratch);
	return scratch;
}

/* ---- dynamic rendering ---- */

/* One VkRenderingAttachmentInfo, with the known properties of its views. */
struct written {
	const VkRenderingAttachmentInfo *info; /* NULL: not present */
	struct vk_view_known *view; /* NULL: unknown */
	const struct vk_view_known *resolve;
	bool resolves;
};

struct rendering {
	struct written color[TALLY_MAX_COLOR], depth, stencil; /* n_color of color are set */
	uint32_t n_color;
	bool one_image; /* depth and stencil share one image */
	struct vk_view_known *first; /* the cached answers are kept with it */
	uint64_t key;
};

static uint64_t
mix(uint64_t hash, uint64_t v)
{
	hash = (hash ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

static void
look_up(struct vk_targets *t, const VkRenderingAttachmentInfo *info, struct written *w,
	struct rendering *r)
{
	*w = (struct written){ 0 };
	if (!info || !info->imageView) {
		r->key = mix(r->key, 0);
		return;
	}
	w->info = info;
	w->view = vk_handles_find(&t->objects[VK_VIEWS], VK_HANDLE_KEY(info->imageView));
	w->resolves = info->resolveMode != VK_RESOLVE_MODE_NONE && info->resolveImageView;
	if (w->resolves)
		w->resolve = vk_handles_find(&t->objects[VK_VIEWS],
					     VK_HANDLE_KEY(info->resolveImageView));
	if (!r->first)
		r->first = w->view;
	r->key = mix(r->key, w->view ? w->view->base.serial : UINT64_MAX);
	r->key = mix(r->key, (uint64_t)info->loadOp << 32 | (uint32_t)info->storeOp);
	r->key = mix(r->key, (w->resolve ? w->resolve->base.serial : 0) << 1 | w->resolves);
}

static void
look_up_all(struct vk_targets *t, const VkRenderingInfo *info, struct rendering *r)
{
	r->n_color = 0;
	r->first = NULL;
	/* Not 0, to which attachments that are absent would add nothing. */
	r->key = mix((uint64_t)info->viewMask << 32 | info->layerCount,
		     ~(uint64_t)info->colorAttachmentCount);
	for (uint32_t i = 0; i < info->colorAttachmentCount && i < TALLY_MAX_COLOR; i++) {
		look_up(t, &info->pColorAttachments[i], &r->color[i], r);
		if (r->color[i].info)
			r->n_color = i + 1;
	}
	look_up(t, info->pDepthAttachment, &r->depth, r);
	look_up(t, info->pStencilAttachment, &r->stencil, r);
	r->one_image = r->depth.info && r->stencil.info &&
		       r->depth.info->imageView == r->stencil.info->imageView;
}

static void
describe_written(const struct written *w, struct tally_target *target, unsigned *ops,
		 struct tally_attachment *role, int64_t *surface, int64_t *resolved)
{
	if (!w->info)
		return;
	add_ops(ops, w->info->loadOp, w->info->storeOp, w->resolves);
	const struct vk_view_known *view = w->view;
	if (*surface < 0 && view)
		*surface = view->surface;
	if (*resolved < 0 && w->resolve)
		*resolved = w->resolve->surface;
	*role = (struct tally_attachment){
		.format = view ? format_name(view->format) : "?",
		.samples = view ? view->samples : 0,
		.layers = target->layers,
	};
	/* Attachments may differ in size: the smallest one is drawn to. */
	if (view && view->width && (!target->width || view->width < target->width))
		target->width = view->width;
	if (view && view->height && (!target->height || view->height < target->height))
		target->height = view->height;
}

/* Of the first attachment that has one; NULL = none. */
static const char *
find_view_name(struct vk_targets *t, const struct rendering *r)
{
	const char *name = NULL;
	for (uint32_t i = 0; i < r->n_color && !name; i++)
		name = r->color[i].view ? vk_view_name(t, r->color[i].view) : NULL;
	if (!name && r->depth.view)
		name = vk_view_name(t, r->depth.view);
	return name || !r->stencil.view ? name : vk_view_name(t, r->stencil.view);
}

static void
describe_rendering(struct vk_targets *t, const VkRenderingInfo *info, const struct rendering *r,
		   struct vk_target_use *out)
{
	struct tally_target target = { .n_color = r->n_color, .name = find_view_name(t, r) };
	struct tally_attachment same;
	struct ops ops = { 0 };
	int64_t resolved = -1;
	target.layers = info->viewMask ? out->views : info->layerCount;
	for (uint32_t i = 0; i < r->n_color; i++)
		describe_written(&r->color[i], &target, &ops.color, &target.color[i],
				 &out->surface, &resolved);
	describe_written(&r->depth, &target, &ops.depth, &target.depth, &out->surface,
			 &resolved);
	describe_written(&r->stencil, &target, &ops.depth,
			 r->one_image ? &same : &target.stencil, &out->surface, &resolved);
	if (out->surface < 0)
		out->surface = resolved;
	if (!target.width || !target.height)
		set_area(&target, &info->renderArea);
	decide_ops(&ops, out, &target);
	finish(out, &target);
}

const struct vk_target_use *
vk_target_of_rendering(struct vk_device *d, const VkRenderingInfo *info,
		       struct vk_target_use *scratch)
{
	*scratch = (struct vk_target_use){
		.surface = -1,
		.views = count_views(info->viewMask),
		.subpasses = 1,
	};
	struct rendering r;
	look_up_all(d->targets, info, &r);
	const struct vk_target_use *known =
		r.first ? find_use(&r.first->base.uses, r.key) : NULL;
	if (known)
		return known;
	describe_rendering(d->targets, info, &r, scratch);
	if (r.first && r.first->width)
		add_use(&r.first->base.uses, r.key, scratch);
	return scratch;
}

/* ---- images and swapchains ---- */

const struct tally_target *
vk_target_of_image(struct vk_device *d, VkImage handle)
{
	struct vk_image_known *image = vk_handles_find(&d->targets->objects[VK_IMAGES],
						       VK_HANDLE_KEY(handle));
	if (!image)
		return NULL;
	const struct tally_target *target = atomic_load_explicit(&image->target,
								 memory_order_acquire);
	if (target)
		return target;
	struct tally_attachment whole = {
		.format = format_name(image->format),
		.samples = image->samples,
		.layers = image->depth > 1 ? image->depth : image->layers,
	};
	struct tally_target build = {
		.width = image->width,
		.height = image->height,
		.layers = whole.layers,
		.samples = image->samples,
		.presented = image->surface >= 0,
	};
	if (vk_format_has_depth(image->format))
		build.depth = whole;
	else if (vk_format_has_stencil(image->format))
		build.stencil = whole;
	else
		build.color[build.n_color++] = whole;
	target = tally_intern_target(NULL, &build);
	/* Equal targets are interned as one: any other thread stores the same pointer. */
	atomic_store_explicit(&image->target, target, memory_order_release);
	return target;
}

struct tally_presented
vk_target_of_swapchain(struct vk_device *d, VkSwapchainKHR handle, struct vk_presents *presents)
{
	const struct vk_swapchain_known *chain = vk_handles_find(
		&d->targets->objects[VK_SWAPCHAINS], VK_HANDLE_KEY(handle));
	*presents = chain ? chain->presents : (struct vk_presents){ .images = 0 };
	if (!chain)
		return (struct tally_presented){ .window = 0 };
	return (struct tally_presented){ { chain->width, chain->height }, chain->surface + 1 };
}
