/* SPDX-License-Identifier: MIT */
#include "json/record_write.h"

#include <math.h>

#include "json/record_json.h"

#define PUT(literal) TALLY_JSON_PUT(w, literal)

/* What an object writes by address: there is room for NEED bytes at `at`. */
#define ROOM() \
	do { \
		_Static_assert(NEED <= TALLY_JSON_ROOM, "all of one object"); \
		at = tally_json_has_room(w, NEED) ? w->at : NULL; \
		if (!at) \
			return; \
	} while (0)
#define AT(literal) (memcpy(at, literal, sizeof(literal) - 1), at += sizeof(literal) - 1)
/* The next key of an object of which no member is certain to be present: the first one has no
 * comma before it. */
#define KEY(literal) (*at = ',', at += any, any = true, AT(literal))

/* One of a set of words, in quotes. */
struct word {
	char text[23];
	uint8_t len;
};
#define WORD(word) { "\"" word "\"", sizeof(word) + 1 }

/* words[n] is for a value that is none of them. */
static inline char *
put_word(char *at, const struct word *words, unsigned n, unsigned value)
{
	const struct word *word = &words[value < n ? value : n];
	memcpy(at, word, sizeof(*word));
	return at + word->len;
}

static void
put_schema(struct tally_json_writer *w, const struct tally_header_record *header)
{
	(void)header;
	PUT("\"" TALLY_SCHEMA "\"");
}

static void
put_texts(struct tally_json_writer *w, const char *const *texts, uint32_t n)
{
	PUT("[");
	for (uint32_t i = 0; i < n; i++) {
		if (i)
			PUT(",");
		tally_json_put_text(w, texts[i]);
	}
	PUT("]");
}

static void
put_started(struct tally_json_writer *w, const struct tally_header_record *header)
{
	tally_json_put_time(w, header->started_unix_ns);
}

static void
put_key_texts(struct tally_json_writer *w, const struct tally_key_text *items, uint32_t n)
{
	PUT("{");
	for (uint32_t i = 0; i < n; i++) {
		if (i)
			PUT(",");
		tally_json_put_text(w, items[i].key);
		PUT(":");
		tally_json_put_text(w, items[i].value);
	}
	PUT("}");
}

static bool
has_color(const struct tally_pass_info_record *info)
{
	return info->target.n_color;
}

static void
put_color(struct tally_json_writer *w, const struct tally_pass_info_record *info)
{
	const struct tally_target *target = &info->target;
	PUT("[");
	for (uint32_t i = 0; i < target->n_color && i < TALLY_MAX_COLOR; i++) {
		if (i)
			PUT(",");
		if (target->color[i].format)
			tally_json_put_text(w, target->color[i].format);
		else
			PUT("null");
	}
	PUT("]");
}

static bool
has_values(const struct tally_keyed_value *values, uint32_t n)
{
	uint32_t i = 0;
	while (i < n && !tally_json_is_writable(values[i].value))
		i++;
	return i < n;
}

/* key: number} of those that can be written; counts the estimates among them. */
static void
put_values(struct tally_json_writer *w, const struct tally_keyed_value *values, uint32_t n,
	   uint32_t *estimated)
{
	enum { NEED = sizeof(((struct tally_json_kept *)NULL)->quoted) + 2 + TALLY_F64_CHARS };
	char *at;
	bool any = false;
	ROOM();
	for (uint32_t i = 0; i < n; i++) {
		if (!tally_json_is_writable(values[i].value))
			continue;
		KEY("");
		const struct tally_json_kept *kept = tally_json_find_kept(w, values[i].key);
		if (kept) {
			memcpy(at, kept->quoted, sizeof(kept->quoted));
			at += kept->len;
		} else {
			w->at = at;
			tally_json_keep_text(w, values[i].key);
			ROOM();
		}
		AT(":");
		w->at = at = tally_json_put_value_at(at, values[i].value);
		*estimated += values[i].estimated;
		ROOM();
	}
	PUT("}");
}

static void
put_estimated_keys(struct tally_json_writer *w, const struct tally_keyed_value *values,
		   uint32_t n, bool *any)
{
	for (uint32_t i = 0; i < n; i++) {
		if (!values[i].estimated || !tally_json_is_writable(values[i].value))
			continue;
		if (*any)
			PUT(",");
		*any = true;
		tally_json_put_kept(w, values[i].key);
	}
}

static void
put_estimated(struct tally_json_writer *w, const struct tally_keyed_value *counters,
	      uint32_t n_counters, const struct tally_keyed_value *metrics, uint32_t n_metrics)
{
	bool any = false;
	PUT(",\"estimated\":[");
	put_estimated_keys(w, counters, n_counters, &any);
	put_estimated_keys(w, metrics, n_metrics, &any);
	PUT("]");
}

#define KNOWN_FLAGS ((UINT64_C(1) << TALLY_N_FLAGS) - 1)

static void
put_flags(struct tally_json_writer *w, const struct word *words, uint64_t flags)
{
	enum { NEED = 1 + sizeof(struct word) };
	char *at;
	bool any = false;
	PUT("[");
	for (flags &= KNOWN_FLAGS; flags; flags &= flags - 1) {
		ROOM();
		KEY("");
		w->at = put_word(at, words, TALLY_N_FLAGS, (unsigned)__builtin_ctzll(flags));
	}
	PUT("]");
}

static bool
has_queue(const struct tally_pass_record *pass)
{
	return pass->queue_family >= 0 && pass->queue_index >= 0;
}

/* "family.index" */
static void
put_queue(struct tally_json_writer *w, const struct tally_pass_record *pass)
{
	PUT("\"");
	tally_json_put_u64(w, (uint64_t)pass->queue_family);
	PUT(".");
	tally_json_put_u64(w, (uint64_t)pass->queue_index);
	PUT("\"");
}

/* What most frames of one pass have is left out: finish_frame() of json/decode_lines.c knows it. */
static bool
has_gaps(const struct tally_frame_record *frame)
{
	return frame->has_gpu && frame->envelope_ns != frame->gpu_ns;
}

static bool
has_rest(const struct tally_frame_record *frame)
{
	return frame->has_coverage && frame->coverage < 1;
}

/* Some kernels know it to 4 ms only. */
static bool
has_kernel(const struct tally_frame_record *frame)
{
	return frame->kernel_ns >= 12000000 && frame->kernel_ns >= frame->thread_ns / 2;
}

static bool
has_unattributed(const struct tally_frame_record *frame)
{
	return (frame->has_unattributed_gpu && frame->unattributed_gpu_ns) ||
	       has_values(frame->unattributed, frame->n_unattributed);
}

static bool
has_sums(const struct tally_statistic_record *s)
{
	return s->integral || (isfinite(s->sum_f64) && isfinite(s->sum_sq_f64));
}

static void
put_any_sum(struct tally_json_writer *w, bool integral, const struct tally_int192 *sum,
	    double f64)
{
	if (integral) {
		tally_json_put_int192(w, sum);
		return;
	}
	PUT("\"");
	tally_json_put_f64(w, f64);
	PUT("\"");
}

static void
put_sum(struct tally_json_writer *w, const struct tally_statistic_record *s)
{
	put_any_sum(w, s->integral, &s->sum, s->sum_f64);
}

static void
put_sum_sq(struct tally_json_writer *w, const struct tally_statistic_record *s)
{
	put_any_sum(w, s->integral, &s->sum_sq, s->sum_sq_f64);
}

/* put_NAME() of every object of json/log.fields, and tally_json_put_NAME() of every line. */
#include "json/log_put.inc"

void
tally_json_put_end(struct tally_json_writer *w, const struct tally_end_record *end,
		   bool with_lists)
{
	struct tally_end_record written = *end;
	if (!written.reason)
		written.reason = "unknown";
	if (!with_lists)
		written.n_growth = written.n_statistics = 0;
	put_end(w, &written);
}

/* A writer over a separate window that is emptied into the caller's memory as far as it
 * fits. */
struct measured {
	struct tally_json_writer writer; /* first: see empty_window() */
	char window[TALLY_JSON_ROOM];
	char *out;
	size_t size, len;
};

static bool
empty_window(struct tally_json_writer *w, size_t need)
{
	struct measured *m = (struct measured *)w;
	size_t n = (size_t)(w->at - m->window);
	if (m->len < m->size) {
		size_t fits = m->size - m->len;
		memcpy(m->out + m->len, m->window, n < fits ? n : fits);
	}
	m->len += n;
	w->at = m->window;
	return need <= sizeof(m->window);
}

size_t
tally_json_write_device(char *out, size_t size, const struct tally_device_record *device)
{
	struct measured m = { .out = out, .size = size };
	m.writer.at = m.window;
	m.writer.end = m.window + sizeof(m.window);
	m.writer.room = empty_window;
	tally_json_put_device(&m.writer, device);
	empty_window(&m.writer, 0);
	if (size)
		out[m.len < size ? m.len : size - 1] = '\0';
	return m.len;
}
