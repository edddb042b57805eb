/* SPDX-License-Identifier: MIT */
/* Every allocation of recording fails once: the driver sees the same commands, and all of
 * passtally's queries that were begun are ended. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/vk_layer/vk_recording_world.h"

static unsigned until_failure = UINT32_MAX;
static bool failed;

static bool
fails(void)
{
	bool now_ = --until_failure == 0;
	failed |= now_;
	return now_;
}

static void *
test_calloc(size_t n, size_t size)
{
	return fails() ? NULL : calloc(n, size);
}

static void *
test_realloc(void *old, size_t size)
{
	return fails() ? NULL : realloc(old, size);
}

#define calloc test_calloc
#define realloc test_realloc
#include "vk_layer/record/command.c"
#include "vk_layer/record/recording.c"

#define SCRIPT \
	"4 Bc [d draw ] attach E 5 B rp draw end dispatch drs end drr draw end E 6 Bcs draw E " \
	"7 Bs dispatch [e rp draw end E 0 B [f dispatch copy1 rp draw end ] rps x46 end x5 x7 " \
	"x57 drs draw end [g drr end vid vid- E 1 B rp draw draw draw draw draw draw draw draw " \
	"draw end rp end rp end rp end rp end rp end rp end rp end rp end E 0 B rp draw end E"

/* The stream without passtally's queries. */
static char *
game_stream(int *n_open)
{
	GString *game = g_string_new(NULL);
	char **words = g_strsplit(world.stream->str, " ", 0);
	for (unsigned i = 0; words[i]; i++) {
		if (words[i][0] == '>')
			--*n_open;
		else if (g_str_has_suffix(words[i], "<"))
			++*n_open;
		else if (words[i][0] != '~')
			g_string_append_printf(game, "%s ", words[i]);
	}
	g_strfreev(words);
	return g_string_free(game, FALSE);
}

/* What counts as recorded is either complete or marked. */
static void
check_marked(unsigned n)
{
	const struct vk_command *c = world_command(1);
	if (!c || !c->recording)
		return;
	const struct vk_recording *r = c->recording;
	uint32_t passes = r->n_passes + r->dropped;
	g_assert_true(passes == 9 || r->broken);
	g_assert_true(r->n_passes == 9 || r->dropped > 0);
	for (uint32_t i = 0; i < r->n_passes; i++) {
		const struct vk_pass *p = &r->passes[i];
		if (p->call_counts.draws &&
		    world.device.config->granularity == TALLY_GRANULARITY_DRAW)
			g_assert_true(p->uncounted || p->n_workloads == p->call_counts.draws);
	}
	(void)n;
}

static void
test_failures(gconstpointer setting)
{
	until_failure = UINT32_MAX;
	world_begin(setting);
	world_play(SCRIPT);
	int n_open = 0;
	char *want = game_stream(&n_open);
	g_assert_cmpint(n_open, ==, 0);
	world_end();
	unsigned n = 1;
	do {
		failed = false;
		until_failure = n;
		world_begin(setting);
		world_play(SCRIPT);
		until_failure = UINT32_MAX;
		char *got = game_stream(&n_open);
		g_assert_cmpint(n_open, ==, 0);
		g_assert_cmpstr(got, ==, want);
		g_free(got);
		check_marked(n);
		world_end();
		n++;
	} while (failed);
	g_test_message("%u allocations", n - 2);
	g_assert_cmpuint(n, >, 16);
	g_free(want);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_data_func("/vk-recording-memory/pass", "", test_failures);
	g_test_add_data_func("/vk-recording-memory/inherit", "inherit", test_failures);
	g_test_add_data_func("/vk-recording-memory/draw", "draw", test_failures);
	g_test_add_data_func("/vk-recording-memory/game", "game frame", test_failures);
	return g_test_run();
}
