/* SPDX-License-Identifier: MIT */
#include "tests/unit/layer/stream_world.h"

static void
test_one_stream(void)
{
	if (!stub_in_child(NULL))
		return;
	struct tally_device *device = start_device();
	struct tally_stream *s = new_stream(device, 5);
	uint64_t t0 = tally_clock_now_ns() + 1000000000;
	uint64_t serial = 0;
	for (uint64_t frame = 0; frame < 10; frame++) {
		g_assert_cmpuint(tally_device_frame(device), ==, frame);
		g_assert_true(tally_stream_captures(s));
		/* Frame 3 has no pass: it gets its line anyway. 200 passes need more chunks. */
		unsigned n = frame == 3 ? 0 : frame == 4 ? 200 : 3;
		for (unsigned i = 0; i < n; i++)
			g_assert_nonnull(open_pass(s, serial++));
		tally_stream_add_overhead(s, 100 + frame);
		end_frame(s, t0 + frame * FRAME_NS);
		tally_stream_add_overhead(s, 7); /* of the next frame */
		/* Results come two frames late. */
		uint64_t age = 0;
		struct tally_pass *pass;
		while ((pass = tally_stream_pending(s, &age)) && age >= 2)
			pass->done = true;
		tally_stream_publish(s);
	}
	finish_all(s);
	tally_stream_publish(s);
	tally_stream_destroy(s);
	tally_device_destroy(device);
	tally_session_stop("exit");

	g_assert_cmpuint(stub.frames->len, ==, 10);
	uint64_t next = 0;
	for (unsigned i = 0; i < 10; i++) {
		const struct tally_frame_record *f = stub_frame(i);
		g_assert_cmpuint(f->frame, ==, i);
		g_assert_cmphex(f->flags, ==, 0);
		g_assert_cmpuint(f->n_passes, ==, i == 3 ? 0 : i == 4 ? 200 : 3);
		g_assert_cmpuint(f->overhead_ns, ==, 100 + i + (i ? 7 : 0));
		g_assert_cmpuint(f->dropped_passes, ==, 0);
		if (i) {
			g_assert_cmpuint(f->start_ns, ==, t0 + (i - 1) * FRAME_NS);
			g_assert_cmpuint(f->cpu_ns, ==, FRAME_NS);
		}
		for (uint32_t j = 0; j < f->n_passes; j++, next++) {
			const struct tally_pass_record *p = &f->passes[j];
			g_assert_cmpuint(p->call_counts.draws, ==, next);
			g_assert_cmpuint(p->index, ==, j);
			g_assert_cmpint(p->context, ==, 5);
			g_assert_cmpuint(p->n_counters, ==, 1);
			g_assert_cmpuint(p->counters[0].value.u64, ==, next);
		}
	}
	g_assert_cmpuint(next, ==, serial);
	g_assert_cmpuint(stub.end.frames, ==, 10);
	g_assert_cmpuint(stub.end.passes, ==, serial);
	g_assert_cmpuint(stub.end.frames_dropped, ==, 0);
	g_assert_cmpstr(stub.end.reason, ==, "exit");
	g_assert_cmpuint(stub.n_ends, ==, 1);
	g_assert_cmpuint(stub.n_closed, ==, 1);
	g_assert_true(g_str_has_prefix(stub_line(0), "header "));
	g_assert_cmpstr(stub_line(1), ==, "device 0 Fake sources=1 counters=1");
	g_assert_true(g_str_has_prefix(stub_line(2), "pass_info "));
	g_assert_cmpstr(stub_line(stub.lines->len - 1), ==, "end exit");
}

/* ---- many producers ---- */

#define STRESS_FRAMES 300
static struct tally_device *stress_device;
static atomic_bool stress_over;

struct producer {
	unsigned number;
	bool ends_frames;
	uint64_t opened, refused; /* answers of open_pass */
};

static gpointer
produce(gpointer data)
{
	struct producer *p = data;
	struct tally_stream *s = new_stream(stress_device, p->number);
	GRand *rand = g_rand_new_with_seed(p->number + 1);
	uint64_t serial = 0;
	for (unsigned turn = 0;
	     p->ends_frames ? turn < STRESS_FRAMES : !atomic_load(&stress_over); turn++) {
		unsigned n = (unsigned)g_rand_int_range(rand, 0, 20);
		for (unsigned i = 0; i < n; i++) {
			struct tally_pass *pass = open_pass(s, serial);
			if (!pass) {
				p->refused++;
				continue;
			}
			serial++;
			p->opened++;
		}
		if (p->ends_frames)
			end_frame(s, tally_clock_now_ns());
		unsigned left = (unsigned)g_rand_int_range(rand, 0, 30);
		struct tally_pass *pass;
		uint64_t age;
		while (left-- && (pass = tally_stream_pending(s, &age)))
			pass->done = true;
		tally_stream_publish(s);
		if (g_rand_int_range(rand, 0, 4) == 0)
			sched_yield();
		if (p->ends_frames)
			g_usleep(100);
	}
	/* Half hand over properly, half just end. */
	if (p->number % 2) {
		finish_all(s);
		tally_stream_publish(s);
	}
	tally_stream_destroy(s);
	g_rand_free(rand);
	return NULL;
}

/* The passes after the last frame, dropped ones included, as a note reports them. */
static uint64_t
told_left_out(void)
{
	uint64_t n = 0;
	for (unsigned i = 0; i < stub.lines->len; i++) {
		const char *line = stub_line(i);
		if (g_str_has_prefix(line, "note ") && strstr(line, "to no frame"))
			n += g_ascii_strtoull(line + strlen("note "), NULL, 10);
	}
	return n;
}

/* Nothing lost, nothing twice, each stream's passes in order, frames in order, drops counted. */
static void
check_stress(const struct producer *producers, unsigned n)
{
	uint64_t seen[16] = { 0 };
	uint64_t dropped = 0, refused = 0, total = 0;
	uint64_t next_frame = 0;
	for (unsigned i = 0; i < stub.frames->len; i++) {
		const struct tally_frame_record *f = stub_frame(i);
		g_assert_cmpuint(f->frame, >=, next_frame);
		next_frame = f->frame + 1;
		dropped += f->dropped_passes;
		total += f->n_passes;
		for (uint32_t j = 0; j < f->n_passes; j++) {
			unsigned c = (unsigned)f->passes[j].context;
			g_assert_cmpuint(c, <, n);
			/* Late passes are listed after newer ones, so the order holds only
			 * without them. */
			if (!(f->flags & TALLY_FLAG(LATE)) && j && f->passes[j - 1].context == c)
				g_assert_cmpuint(f->passes[j].call_counts.draws, >,
						 f->passes[j - 1].call_counts.draws);
			seen[c]++;
		}
	}
	uint64_t opened = 0, left_out = told_left_out();
	for (unsigned c = 0; c < n; c++) {
		g_assert_cmpuint(seen[c], <=, producers[c].opened);
		opened += producers[c].opened;
		refused += producers[c].refused;
	}
	g_assert_cmpuint(dropped, <=, refused);
	g_assert_cmpuint(total + dropped + left_out, ==, opened + refused);
	if (!left_out)
		g_assert_cmpuint(total, ==, opened);
	g_assert_cmpuint(stub.end.passes, ==, total);
	g_assert_cmpuint(stub.end.frames, ==, stub.frames->len);
}

static void
check_no_duplicates(unsigned n)
{
	for (unsigned c = 0; c < n; c++) {
		GHashTable *serials = g_hash_table_new(NULL, NULL);
		for (unsigned i = 0; i < stub.frames->len; i++) {
			const struct tally_frame_record *f = stub_frame(i);
			for (uint32_t j = 0; j < f->n_passes; j++) {
				if (f->passes[j].context == c)
					g_assert_true(g_hash_table_add(
						serials,
						GUINT_TO_POINTER(
							f->passes[j].call_counts.draws)));
			}
		}
		g_hash_table_destroy(serials);
	}
}

static void
test_threads(gconstpointer data)
{
	if (!stub_in_child(NULL))
		return;
	unsigned n = GPOINTER_TO_UINT(data);
	struct producer producers[8] = { 0 };
	GThread *threads[8];
	stress_device = start_device();
	for (unsigned i = 0; i < n; i++) {
		producers[i].number = i;
		/* Two windows swapped by two threads, once there are enough frames. */
		producers[i].ends_frames = i == 0 || i == 4;
		threads[i] = g_thread_new("producer", produce, &producers[i]);
	}
	for (unsigned i = 0; i < n; i += 4)
		g_thread_join(threads[i]);
	atomic_store(&stress_over, true);
	for (unsigned i = 0; i < n; i++) {
		if (i % 4)
			g_thread_join(threads[i]);
	}
	uint64_t ended = tally_device_frame(stress_device);
	g_assert_cmpuint(ended, ==, STRESS_FRAMES * (n > 4 ? 2 : 1));
	tally_device_destroy(stress_device);
	tally_session_stop("exit");
	check_stress(producers, n);
	check_no_duplicates(n);
	/* Each ended frame has a line or is counted. */
	g_assert_cmpuint(stub.end.frames + stub.end.frames_dropped, ==, ended);
}

/* ---- limits ---- */

static void
test_max_passes(void)
{
	if (!stub_in_child("max-passes=70"))
		return;
	struct tally_device *device = start_device();
	struct tally_stream *s = new_stream(device, 0);
	for (unsigned i = 0; i < 100; i++)
		g_assert_true((open_pass(s, i) != NULL) == (i < 70));
	end_frame(s, tally_clock_now_ns());
	uint32_t one = 1;
	/* A frame that is not listed takes no place. */
	for (unsigned i = 0; i < 75; i++) {
		struct tally_pass *between = tally_stream_open_passes(s, 1, false, &one);
		g_assert_true((between != NULL) == (i < 70));
		g_assert_true(!between || between->unattributed);
		g_assert_true((open_pass(s, 1000 + i) != NULL) == (i < 70));
	}
	end_frame(s, tally_clock_now_ns());
	/* Several at once: up to the end of a chunk, and up to the limit. */
	static const uint32_t got[] = { 40, 24, 6, 0 };
	for (unsigned i = 0; i < G_N_ELEMENTS(got); i++) {
		uint32_t n = 40;
		struct tally_pass *passes = tally_stream_open_passes(s, 1, true, &n);
		g_assert_true(passes ? n == got[i] : !got[i]);
		for (uint32_t k = 0; passes && k < n; k++)
			passes[k].done = true;
	}
	end_frame(s, tally_clock_now_ns());
	finish_all(s);
	tally_stream_publish(s);
	tally_stream_destroy(s);
	tally_device_destroy(device);
	tally_session_stop("exit");
	g_assert_cmpuint(stub_frame(0)->n_passes, ==, 70);
	g_assert_cmpuint(stub_frame(0)->dropped_passes, ==, 30);
	g_assert_cmpuint(stub_frame(1)->n_passes, ==, 70);
	g_assert_cmpuint(stub_frame(1)->dropped_passes, ==, 10);
	g_assert_cmpuint(stub_frame(2)->n_passes, ==, 70);
	g_assert_cmpuint(stub_frame(2)->dropped_passes, ==, 40);
}

/* The collector hurries from two chunks and a sixteenth of them on, even where that memory is in
 * frames whose results are late, until it is given back. */
static void
test_hurries(void)
{
	if (!stub_in_child("max-passes=70"))
		return;
	struct tally_device *device = start_device();
	for (unsigned loads = 0; loads < 2; loads++) {
		struct tally_stream *s = new_stream(device, 0);
		/* 8 frames of 2 chunks; workloads: 2 frames of 9 chunks */
		g_assert_cmpuint(s->chunks.max, ==, 16);
		g_assert_cmpuint(s->loads.max, ==, 18);
		unsigned last = loads ? 1 : 2;
		for (unsigned i = 0; i <= last; i++) {
			g_assert_false(tally_stream_hurries(s));
			struct tally_pass *pass = open_pass(s, i);
			for (unsigned k = 0; loads && k < 128; k++)
				g_assert_nonnull(tally_stream_add_workload(s, pass));
			g_assert_true(tally_stream_hurries(s) == (i == last));
			if (loads && i == last)
				break;
			end_frame(s, tally_clock_now_ns());
			tally_stream_publish(s);
		}
		g_assert_cmpuint(s->n_out, ==, 0); /* no result is available */
		g_assert_true(tally_stream_hurries(s));
		end_frame(s, tally_clock_now_ns());
		finish_all(s);
		tally_stream_publish(s);
		for (unsigned i = 0; i < 5000 && tally_stream_hurries(s); i++) {
			g_usleep(1000);
			tally_stream_publish(s); /* takes back what is written */
		}
		g_assert_false(tally_stream_hurries(s));
		tally_stream_destroy(s);
	}
	tally_device_destroy(device);
	tally_session_stop("exit");
}

/* ... and before the first frame is refused, however large passes are and many are allowed. */
static void
test_hurries_first(void)
{
	static const uint32_t n_counters[] = { 0, 12, 60, 200, 489 };
	if (!stub_in_child("max-passes=100000"))
		return;
	struct tally_device *device = start_device();
	for (unsigned i = 0; i < G_N_ELEMENTS(n_counters); i++) {
		struct tally_stream_info info = { .n_counters = n_counters[i] };
		struct tally_stream *s = tally_stream_create(device, &info);
		g_assert_cmpuint(s->backlog, >, 8);
		s->chunks.n = (uint32_t)s->backlog / 2;
		g_assert_true(tally_stream_hurries(s));
		s->chunks.n = 0;
		g_assert_false(tally_stream_hurries(s));
		tally_stream_destroy(s);
	}
	tally_device_destroy(device);
	tally_session_stop("exit");
}

/* After a frame that took more than twice its predecessor's time, and over 10 ms, the threads' load
 * is read at once, not more often than every 100 ms. */
static void
test_long_frame(void)
{
	static const struct {
		uint64_t ms;
		bool is_long;
	} frames[] = {
		{ 16, false }, { 16, false }, { 30, false },  { 16, false }, { 60, true },
		{ 16, false }, { 60, false }, { 120, false }, { 16, false }, { 60, true },
		{ 2, false },  { 9, false },  { 2, false },   { 200, true },
	};
	if (!stub_in_child(NULL))
		return;
	struct tally_device *device = start_device();
	struct tally_stream *s = new_stream(device, 0);
	uint64_t now_ns = 0;
	for (unsigned i = 0; i < G_N_ELEMENTS(frames); i++) {
		now_ns += frames[i].ms * 1000000;
		open_pass(s, i);
		end_frame(s, now_ns);
		g_assert_true((s->long_ns == now_ns) == frames[i].is_long);
	}
	for (unsigned i = 0; i < 5000 && atomic_load(&device->long_frame); i++)
		g_usleep(1000);
	g_assert_false(atomic_load(&device->long_frame));
	finish_all(s);
	tally_stream_publish(s);
	tally_stream_destroy(s);
	tally_device_destroy(device);
	tally_session_stop("exit");
}

/* Once frames in 8 MiB wait for the log, further ones are refused whole. */
static void
test_backlog(void)
{
	if (!stub_in_child(NULL))
		return;
	struct tally_device *device = start_device();
	struct tally_stream *s = new_stream(device, 0);
	static const struct {
		uint32_t at_collector;
		bool refused;
	} cases[] = { { 8, true }, { 7, false }, { 0, false } };
	unsigned n = 0;
	for (; s->chunks.n < s->backlog; n++) {
		if (n % 1000 == 0)
			end_frame(s, tally_clock_now_ns());
		g_assert_nonnull(open_pass(s, n));
	}
	g_assert_cmpuint(n, >, 20000);
	g_assert_cmpuint(n, <, 40000);
	for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
		end_frame(s, tally_clock_now_ns());
		for (unsigned k = 0; k < 2 * TALLY_CHUNK_PASSES; k++) {
			s->n_out = k ? 8 - s->n_out : cases[i].at_collector;
			g_assert_true(!open_pass(s, n++) == cases[i].refused);
		}
	}
	s->n_out = 0;
	finish_all(s);
	tally_stream_publish(s);
	tally_stream_destroy(s);
	tally_device_destroy(device);
	tally_session_stop("exit");
}

/* Results do not arrive for more frames than there are parts. */
/* Workloads are listed under their pass in order, also when passes take turns, and their memory
 * is reused. */
static void
test_workloads(void)
{
	if (!stub_in_child(NULL))
		return;
	struct tally_device *device = start_device();
	struct tally_stream *s = new_stream(device, 0);
	for (unsigned frame = 0; frame < 20; frame++) {
		struct tally_pass *one = open_pass(s, 1);
		struct tally_pass *two = open_pass(s, 2);
		struct tally_pass *none = open_pass(s, 3);
		g_assert_nonnull(none);
		for (unsigned i = 0; i < 100 + frame; i++) {
			struct tally_workload *load = tally_stream_add_workload(
				s, i % 3 ? two : one);
			g_assert_nonnull(load);
			g_assert_cmpuint(load->slot, ==, UINT32_MAX);
			g_assert_cmpuint(load->valid[0], ==, 0);
			g_assert_false(load->has_time);
			g_assert_null(load->next);
			load->command = i % 2 ? "draw" : "clear";
			load->values[0] = (struct tally_value){ TALLY_STORAGE_U64,
								{ .u64 = i } };
			load->valid[0] = i % 5 != 0;
			load->has_time = i % 7 != 0;
			load->gpu_begin_ns = 1000 + i;
			load->gpu_end_ns = 1000 + 2 * i;
			load->flags = i % 2 ? TALLY_FLAG(YIELDED) : 0;
		}
		end_frame(s, tally_clock_now_ns());
		finish_all(s);
		tally_stream_publish(s);
		wait_for_frames(frame + 1);
	}
	tally_stream_destroy(s);
	tally_device_destroy(device);
	tally_session_stop("exit");
	for (unsigned f = 0; f < 20; f++) {
		const struct tally_frame_record *frame = stub_frame(f);
		g_assert_cmpuint(frame->n_passes, ==, 3);
		g_assert_cmpuint(frame->passes[2].n_workloads, ==, 0);
		g_assert_cmpuint(frame->passes[0].n_workloads + frame->passes[1].n_workloads, ==,
				 100 + f);
		uint32_t at[2] = { 0, 0 };
		for (unsigned i = 0; i < 100 + f; i++) {
			unsigned p = i % 3 ? 1 : 0;
			const struct tally_workload_record *w =
				&frame->passes[p].workloads[at[p]++];
			g_assert_cmpstr(w->command, ==, i % 2 ? "draw" : "clear");
			g_assert_true(w->has_gpu == (i % 7 != 0));
			g_assert_cmpuint(w->gpu_ns, ==, w->has_gpu ? i : 0);
			g_assert_cmpuint(w->gpu_start_ns, ==, w->has_gpu ? 1000 + i : 0);
			g_assert_cmpuint(w->n_counters, ==, i % 5 != 0);
			if (w->n_counters)
				g_assert_cmpuint(w->counters[0].value.u64, ==, i);
			g_assert_cmphex(w->flags, ==, i % 2 ? TALLY_FLAG(YIELDED) : 0);
		}
	}
}

static void
test_max_workloads(void)
{
	if (!stub_in_child("max-passes=2"))
		return;
	struct tally_device *device = start_device();
	struct tally_stream *s = new_stream(device, 0);
	for (unsigned frame = 0; frame < 3; frame++) {
		struct tally_pass *pass = open_pass(s, 1);
		struct tally_pass *next = open_pass(s, 2);
		for (unsigned i = 0; i < 16; i++) {
			struct tally_workload *load = tally_stream_add_workload(s, pass);
			g_assert_nonnull(load);
			load->command = "draw";
		}
		g_assert_null(tally_stream_add_workload(s, next));
		end_frame(s, tally_clock_now_ns());
		finish_all(s);
		tally_stream_publish(s);
		wait_for_frames(frame + 1);
	}
	tally_stream_destroy(s);
	tally_device_destroy(device);
	tally_session_stop("exit");
	for (unsigned f = 0; f < 3; f++) {
		const struct tally_frame_record *frame = stub_frame(f);
		g_assert_cmpuint(frame->dropped_passes, ==, 0);
		g_assert_cmpuint(frame->passes[0].n_workloads, ==, 16);
		g_assert_cmphex(frame->passes[0].flags, ==, 0);
		g_assert_cmpuint(frame->passes[1].n_workloads, ==, 0);
		g_assert_cmphex(frame->passes[1].flags, ==, TALLY_FLAG(DROPPED));
	}
}

static void
test_newest_device(void)
{
	if (!stub_in_child(NULL))
		return;
	unsigned gl = 1u << TALLY_API_OPENGL, es = 1u << TALLY_API_OPENGL_ES;
	unsigned vk = 1u << TALLY_API_VULKAN;
	g_assert_cmpint(tally_device_newest(gl | es | vk), ==, -1);
	g_assert_true(tally_session_start(&stub_recorder));
	g_assert_cmpint(tally_device_newest(gl | es | vk), ==, -1);
	struct tally_device *d[4];
	g_assert_cmpint(new_device(TALLY_API_VULKAN, &d[0]), ==, 0);
	g_assert_cmpint(tally_device_newest(gl | es), ==, -1);
	g_assert_cmpint(new_device(TALLY_API_OPENGL, &d[1]), ==, 1);
	g_assert_cmpint(new_device(TALLY_API_OPENGL_ES, &d[2]), ==, 2);
	g_assert_cmpint(tally_device_newest(gl | es), ==, 2);
	g_assert_cmpint(tally_device_newest(gl), ==, 1);
	g_assert_cmpint(tally_device_newest(vk), ==, 0);
	g_assert_cmpint(tally_device_newest(0), ==, -1);
	tally_device_destroy(d[0]);
	g_assert_cmpint(tally_device_newest(vk), ==, 0);
	g_assert_cmpint(new_device(TALLY_API_VULKAN, &d[3]), ==, 3);
	g_assert_cmpint(tally_device_newest(gl | es | vk), ==, 3);
	for (unsigned i = 1; i < 4; i++)
		tally_device_destroy(d[i]);
	tally_session_stop("exit");
	g_assert_cmpint(tally_device_newest(gl | es | vk), ==, -1);
}

static void
test_no_parts_left(void)
{
	if (!stub_in_child(NULL))
		return;
	struct tally_device *device = start_device();
	struct tally_stream *s = new_stream(device, 0);
	const unsigned n = TALLY_MAX_PARTS + 36;
	uint64_t t0 = tally_clock_now_ns();
	for (unsigned i = 0; i < n; i++) {
		g_assert_true((open_pass(s, i) != NULL) == (i < TALLY_MAX_PARTS));
		end_frame(s, t0 + i * FRAME_NS);
		tally_stream_publish(s);
	}
	uint64_t age;
	g_assert_nonnull(tally_stream_pending(s, &age));
	g_assert_cmpuint(age, ==, n);
	finish_all(s);
	tally_stream_publish(s);
	wait_for_frames(TALLY_MAX_PARTS);
	/* And it continues; the lost ends are known, so the time is right. */
	g_assert_nonnull(open_pass(s, n));
	end_frame(s, t0 + n * FRAME_NS);
	finish_all(s);
	tally_stream_publish(s);
	tally_stream_destroy(s);
	tally_device_destroy(device);
	tally_session_stop("exit");

	g_assert_cmpuint(stub.frames->len, ==, TALLY_MAX_PARTS + 1);
	const struct tally_frame_record *last = stub_frame(TALLY_MAX_PARTS);
	g_assert_cmpuint(last->frame, ==, n);
	g_assert_cmpuint(last->dropped_passes, ==, 36);
	g_assert_cmpuint(last->cpu_ns, ==, FRAME_NS);
	g_assert_cmphex(last->flags, ==, 0);
	g_assert_cmpuint(stub.end.frames_dropped, ==, 36);
}

/* Nothing that comes later says so: the frames that had no part, and that one's whose results are
 * still awaited. */
static void
test_lost_last(void)
{
	if (!stub_in_child(NULL))
		return;
	struct tally_device *device = start_device();
	struct tally_stream *s = new_stream(device, 0);
	const unsigned n = TALLY_MAX_PARTS + 36;
	for (unsigned i = 0; i < n; i++) {
		open_pass(s, i);
		end_frame(s, 0);
		tally_stream_publish(s);
	}
	finish_all(s);
	tally_stream_publish(s);
	wait_for_frames(TALLY_MAX_PARTS);
	g_assert_nonnull(open_pass(s, n));
	end_frame(s, 0);
	tally_stream_publish(s);
	tally_session_stop("exit");
	g_assert_cmpuint(stub.frames->len, ==, TALLY_MAX_PARTS);
	g_assert_cmpuint(stub.end.frames_dropped, ==, 37);
	tally_stream_destroy(s);
	tally_device_destroy(device);
}

static void
test_destroy(void)
{
	if (!stub_in_child(NULL))
		return;
	struct tally_device *device = start_device();
	struct tally_stream *s = new_stream(device, 0);
	struct tally_stream *idle = new_stream(device, 1);
	open_pass(s, 2);
	open_pass(s, 3);
	tally_stream_destroy(s);
	tally_stream_destroy(idle);
	tally_stream_destroy(NULL);
	tally_device_destroy(device);
	tally_device_destroy(NULL);
	wait_for_frames(1); /* a device that is gone does not wait for the end of the run */
	tally_session_stop("exit");
	g_assert_cmpuint(stub.frames->len, ==, 1);
	g_assert_cmphex(stub_frame(0)->flags, ==, TALLY_FLAG(PARTIAL));
	g_assert_cmpuint(stub_frame(0)->n_passes, ==, 2);
	g_assert_cmphex(stub_frame(0)->passes[1].flags, ==, TALLY_FLAG(LOST));
}

/* What comes after a device's last frame is reported, but is not a frame. */
static void
test_after_the_last_frame(void)
{
	if (!stub_in_child(NULL))
		return;
	struct tally_device *device = start_device();
	struct tally_stream *s = new_stream(device, 0);
	open_pass(s, 1);
	end_frame(s, tally_clock_now_ns());
	open_pass(s, 2);
	open_pass(s, 3);
	uint32_t one = 1;
	/* is none */
	g_assert_nonnull(tally_stream_open_passes(s, tally_clock_now_ns(), false, &one));
	tally_stream_destroy(s);
	tally_device_destroy(device);
	tally_session_stop("exit");
	g_assert_cmpuint(stub.frames->len, ==, 1);
	g_assert_cmphex(stub_frame(0)->flags, ==, 0);
	g_assert_cmpuint(stub_count("note 2 passes of device 0 belong to no frame"), ==, 1);
}

/* A device that works and ends no frame is named once another has ended some. */
static void
test_endless_device(void)
{
	if (!stub_in_child(NULL))
		return;
	static const struct tally_device_record info = { .name = "Other", .beneath = -1 };
	struct tally_device *device = start_device(), *other = tally_device_create(&info),
			    *silent = tally_device_create(&info);
	struct tally_stream *s = new_stream(device, 0), *endless = new_stream(other, 0),
			    *unused = new_stream(silent, 0);
	open_pass(endless, 1);
	for (unsigned i = 0; i < 66; i++) {
		open_pass(s, i);
		end_frame(s, tally_clock_now_ns());
		finish_all(s);
		tally_stream_publish(s);
		wait_for_frames(i + 1);
	}
	tally_stream_destroy(s);
	tally_stream_destroy(endless);
	tally_stream_destroy(unused);
	tally_device_destroy(device);
	tally_device_destroy(other);
	tally_device_destroy(silent);
	tally_session_stop("exit");
	g_assert_cmpuint(stub_count("note device 1 works, but ends no frame"), ==, 1);
	g_assert_cmpuint(stub_count("note device 2"), ==, 0);
	g_assert_cmpuint(stub_count("note device 0"), ==, 0);
}

/* A context that was only tried: cleared, never drawn to, never shown. */
static void
test_clears_alone(void)
{
	if (!stub_in_child(NULL))
		return;
	struct tally_device *device = start_device();
	struct tally_stream *s = new_stream(device, 0);
	struct tally_pass *pass = open_pass(s, 1);
	pass->call_counts.clears = pass->call_counts.calls = 1;
	tally_stream_destroy(s);
	tally_device_destroy(device);
	tally_session_stop("exit");
	g_assert_cmpuint(stub.frames->len, ==, 0);
	g_assert_cmpuint(stub_count("note 1 pass of device 0 belongs to no frame"), ==, 0);
}

/* An open frame without passes leaves no line. */
static void
test_nothing(void)
{
	if (!stub_in_child(NULL))
		return;
	struct tally_device *device = start_device();
	struct tally_stream *s = new_stream(device, 0);
	tally_stream_add_overhead(s, 5);
	tally_stream_publish(s);
	uint64_t age;
	g_assert_null(tally_stream_pending(s, &age));
	tally_stream_destroy(s);
	tally_device_destroy(device);
	tally_session_stop("exit");
	g_assert_cmpuint(stub.frames->len, ==, 0);
	g_assert_cmpuint(stub.end.frames, ==, 0);
}

/* A stream that keeps a pass open delays frames only for a limited time; later its pass is
 * late. */
static void
test_slow_stream(void)
{
	if (!stub_in_child(NULL))
		return;
	struct tally_device *device = start_device();
	struct tally_stream *fast = new_stream(device, 0);
	struct tally_stream *slow = new_stream(device, 1);
	open_pass(slow, 1000);
	for (unsigned i = 0; i < 70; i++) {
		g_assert_nonnull(open_pass(fast, i));
		end_frame(fast, tally_clock_now_ns());
		finish_all(fast);
		tally_stream_publish(fast);
		if (i == 40) {
			g_usleep(20000);
			g_assert_cmpuint(atomic_load(&stub.n_frames), ==, 0);
		}
		/* No faster than parts are returned. */
		if (i > 50)
			wait_for_frames(i - 50);
	}
	/* The first was given up when 48 waited, or after 2 s; the others then wait for no
	 * stream. */
	wait_for_frames(70);
	finish_all(slow);
	tally_stream_publish(slow);
	g_usleep(50000);
	open_pass(fast, 70);
	end_frame(fast, tally_clock_now_ns());
	finish_all(fast);
	tally_stream_publish(fast);
	tally_stream_destroy(fast);
	tally_stream_destroy(slow);
	tally_device_destroy(device);
	tally_session_stop("exit");
	g_assert_cmphex(stub_frame(0)->flags, ==, TALLY_FLAG(INCOMPLETE));
	for (unsigned i = 1; i < 70; i++) {
		g_assert_cmpuint(stub_frame(i)->frame, ==, i);
		g_assert_cmphex(stub_frame(i)->flags, ==, 0);
	}
	const struct tally_frame_record *last = stub_frame(stub.frames->len - 1);
	g_assert_cmphex(last->flags, ==, TALLY_FLAG(LATE));
	g_assert_cmpuint(last->passes[last->n_passes - 1].call_counts.draws, ==, 1000);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/stream/one", test_one_stream);
	g_test_add_data_func("/stream/threads/1", GUINT_TO_POINTER(1), test_threads);
	g_test_add_data_func("/stream/threads/2", GUINT_TO_POINTER(2), test_threads);
	g_test_add_data_func("/stream/threads/4", GUINT_TO_POINTER(4), test_threads);
	g_test_add_data_func("/stream/threads/8", GUINT_TO_POINTER(8), test_threads);
	g_test_add_func("/stream/max-passes", test_max_passes);
	g_test_add_func("/stream/hurries", test_hurries);
	g_test_add_func("/stream/hurries-first", test_hurries_first);
	g_test_add_func("/stream/long-frame", test_long_frame);
	g_test_add_func("/stream/backlog", test_backlog);
	g_test_add_func("/stream/workloads", test_workloads);
	g_test_add_func("/stream/max-workloads", test_max_workloads);
	g_test_add_func("/stream/newest-device", test_newest_device);
	g_test_add_func("/stream/no-parts-left", test_no_parts_left);
	g_test_add_func("/stream/lost-last", test_lost_last);
	g_test_add_func("/stream/destroy", test_destroy);
	g_test_add_func("/stream/after-the-last-frame", test_after_the_last_frame);
	g_test_add_func("/stream/clears-alone", test_clears_alone);
	g_test_add_func("/stream/endless-device", test_endless_device);
	g_test_add_func("/stream/nothing", test_nothing);
	g_test_add_func("/stream/slow-stream", test_slow_stream);
	return g_test_run();
}
