/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "tests/unit/vk_layer/vk_recording_cases.h"
#include "tests/unit/vk_layer/vk_recording_world.h"

static void
test_case(gconstpointer data)
{
	size_t i = GPOINTER_TO_SIZE(data);
	world_begin(cases[i].setting);
	world_play(cases[i].script);
	g_assert_cmpstr(world.stream->str, ==, cases[i].stream);
	GString *recorded = g_string_new(NULL);
	for (unsigned b = 0; b < N_BUFFERS; b++) {
		char *dump = world_dump(b);
		if (*dump)
			g_string_append_printf(recorded, "%u: %s|", b, dump);
		g_free(dump);
	}
	g_assert_cmpstr(recorded->str, ==, cases[i].recorded);
	g_string_free(recorded, TRUE);
	world_end();
}

/* ---- what holds for every program ---- */

/* One command buffer's part of the stream, followed word by word. */
struct oracle {
	bool inherits, draws, late, inside, mesh;
	bool drew; /* a pipeline is bound */
	bool in_pass, suspended;
	uint8_t open[4096]; /* timestamps and counters may begin separately */
	uint32_t n_open, counting; /* slots; statistics queries */
	bool counts[4096], began_inside[4096];
	bool game; /* its query is active */
};

static bool
is_ours(const char *word)
{
	if (strchr(">~!=", word[0]))
		return true;
	return strchr("tac", word[0]) && g_ascii_isdigit(word[1]) && g_str_has_suffix(word, "<");
}

static void
check_ours(struct oracle *o, const char *word)
{
	unsigned slot = (unsigned)g_ascii_strtoull(word + 1, NULL, 10);
	g_assert_false(o->suspended);
	g_assert_true(!o->in_pass || o->draws || o->late || o->inside);
	if (word[0] == '=') {
		g_assert_true(o->late && !o->n_open && !o->in_pass);
	} else if (word[0] == '!') {
		g_assert_true(o->late && o->n_open && !o->in_pass);
	} else if (word[0] == '>') {
		g_assert_cmpuint(o->open[slot], >, 0);
		o->open[slot]--;
		o->n_open--;
		o->counting -= o->counts[slot];
		g_assert_true(!o->counts[slot] || o->began_inside[slot] == o->in_pass);
		o->counts[slot] = false;
	} else if (word[0] == '~') {
		g_assert_true(o->counts[slot] && o->began_inside[slot] == o->in_pass);
		o->counts[slot] = false;
		o->counting--;
	} else {
		o->open[slot]++;
		o->n_open++;
		o->counts[slot] |= word[0] != 't';
		o->began_inside[slot] = o->in_pass;
		o->counting += word[0] != 't';
	}
	g_assert_cmpuint(o->counting + o->game, <=, 1);
}

static void
check_game(struct oracle *o, const char *word)
{
	if (g_str_equal(word, "B")) {
		g_assert_cmpuint(o->n_open, ==, 0);
		o->in_pass = false;
		o->drew = false;
	} else if (g_str_has_prefix(word, "rp") || g_str_has_prefix(word, "drs") ||
		   g_str_has_prefix(word, "drr") || g_str_equal(word, "dr")) {
		o->in_pass = true;
		o->suspended = false;
	} else if (g_str_equal(word, "end")) {
		o->in_pass = false;
	} else if (g_str_equal(word, "q") || (g_str_equal(word, "mesh") && o->mesh)) {
		g_assert_cmpuint(o->counting, ==, 0);
		o->game = word[0] == 'q';
	} else if (g_str_equal(word, "-")) {
		o->game = false;
	} else if (word[0] == 'x' && (!o->inherits || o->inside)) {
		g_assert_cmpuint(o->counting, ==, 0);
	} else if (g_str_equal(word, "E")) {
		g_assert_cmpuint(o->n_open, ==, 0);
	}
}

static bool
is_draw(const char *word)
{
	return g_str_equal(word, "draw") || g_str_equal(word, "indirect") ||
	       g_str_equal(word, "multi") || g_str_equal(word, "mesh");
}

/* Without passtally's queries the driver saw exactly the script, and the queries follow the
 * rules. */
static void
check_stream(const char *script, const char *setting)
{
	static struct oracle o;
	memset(&o, 0, sizeof(o));
	o.inherits = strstr(setting, "inherit");
	o.draws = strstr(setting, "draw");
	o.late = strstr(setting, "late");
	o.mesh = strstr(setting, "mesh");
	o.inside = o.mesh || strstr(setting, "game");
	GString *game = g_string_new(NULL);
	char **words = g_strsplit(world.stream->str, " ", 0);
	bool suspends = false;
	for (unsigned i = 0; words[i]; i++) {
		if (is_ours(words[i])) {
			check_ours(&o, words[i]);
			if (o.late && words[i][0] != 't' && strchr(words[i], '<'))
				g_assert_true(o.drew || is_draw(words[i + 1]));
			continue;
		}
		o.drew |= is_draw(words[i]);
		check_game(&o, words[i]);
		if (g_str_has_prefix(words[i], "dr") && !g_str_equal(words[i], "draw"))
			suspends = strchr(words[i], 's');
		else if (g_str_has_prefix(words[i], "rp"))
			suspends = false;
		o.suspended |= g_str_equal(words[i], "end") && suspends;
		g_string_append_printf(game, "%s%s", game->len ? " " : "", words[i]);
	}
	g_strfreev(words);
	GString *said = g_string_new(NULL);
	words = g_strsplit(script, " ", 0);
	for (unsigned i = 0; words[i]; i++) {
		if (!g_ascii_isdigit(words[i][0]))
			g_string_append_printf(said, "%s%s", said->len ? " " : "",
					       words[i][0] == 'B' ? "B" : words[i]);
	}
	g_strfreev(words);
	g_assert_cmpstr(game->str, ==, said->str);
	g_string_free(game, TRUE);
	g_string_free(said, TRUE);
}

static const char *
pick(GRand *random, const char *const *words, int n)
{
	return words[g_rand_int_range(random, 0, n)];
}

static void
add_pass(GRand *random, GString *script, bool *used, bool game)
{
	static const char *const passes[] = { " rp",  " rpa", " rpb", " rp2", " rp3",
					      " rp4", " rpm", " dr",  " dra", " drb" };
	static const char *const draws[] = { " draw", " indirect", " attach", " multi",
					     " [a",   " ]",        " mesh",   " q draw -" };
	int n_draws = (int)G_N_ELEMENTS(draws) - !game;
	int n = g_rand_int_range(random, 0, 4);
	if (g_rand_boolean(random)) {
		g_string_append(script, pick(random, passes, G_N_ELEMENTS(passes)));
		while (n-- > 0)
			g_string_append(script, pick(random, draws, n_draws));
	} else if (g_rand_boolean(random)) {
		g_string_append(script, " drs draw end ] drrs draw end [b drr");
	} else {
		g_string_append(script, used[0] ? " rps x6" : " rps x64 x6");
		used[0] = true;
	}
	g_string_append(script, " end");
}

/* A program that keeps Vulkan's rules. */
static char *
random_script(GRand *random, const char *setting)
{
	bool game = strstr(setting, "game");
	static const char *const words[] = {
		" dispatch", " copy1", " copy2",    " trace", " [c",
		" ]",        " x7",    " cond",     " cond-", " barrier",
		" clear",    " *i",    " vid vid-", " other", " build",
	};
	bool used[2] = { false, false };
	GString *script = g_string_new(
		game ? "4 Bc [d draw q mesh ] - attach E 5 B rp draw end q dispatch - drs end "
		       "drr draw end E 6 Bcs draw E 7 Bs dispatch [e rp draw end E "
		       "0 B"
		     : "4 Bc [d draw ] attach E 5 B rp draw end dispatch drs end "
		       "drr draw end E 6 Bcs draw E 7 Bs dispatch [e rp draw end E "
		       "0 B");
	for (int n = g_rand_int_range(random, 0, 30); n > 0; n--) {
		if (g_rand_int_range(random, 0, 3) == 0) {
			add_pass(random, script, used, game);
		} else if (game && g_rand_int_range(random, 0, 6) == 0) {
			g_string_append(script, g_rand_boolean(random) ? " q rp draw end dispatch -"
								       : " q copy1 - dispatch");
		} else if (!used[1] && g_rand_int_range(random, 0, 8) == 0) {
			used[1] = true;
			g_string_append(script, g_rand_boolean(random) ? " x5" : " x57");
		} else {
			g_string_append(script, pick(random, words, G_N_ELEMENTS(words)));
		}
	}
	g_string_append(script, " E");
	return g_string_free(script, FALSE);
}

static void
test_random(void)
{
	static const char *const settings[] = {
		"",
		"inherit",
		"draw",
		"draw inherit",
		"nohost",
		"nogroup barrier",
		"frame",
		"game",
		"game inherit",
		"game draw",
		"game late",
		"mesh",
		"mesh inherit",
		"mesh draw",
		"frame inherit",
		"protected",
		"max1",
		"trigger",
		"draw nohost",
		"late",
		"late draw",
		"late frame",
		"late inherit",
	};
	GRand *random = g_rand_new_with_seed(20240611);
	for (int i = 0; i < 2600; i++) {
		const char *setting = settings[i % (int)G_N_ELEMENTS(settings)];
		char *script = random_script(random, setting);
		g_test_message("%s: %s", setting, script);
		world_begin(setting);
		world_play(script);
		check_stream(script, setting);
		world_end();
		g_free(script);
	}
	g_rand_free(random);
}

/* Earlier recordings in the same command buffers change nothing: neither what the driver sees
 * nor what is recorded. */
static void
test_random_again(void)
{
	static const char *const settings[] = {
		"idle",         "",        "idle max1",    "inherit", "idle nogroup barrier",
		"idle inherit", "nohost",  "idle draw",    "late",    "idle late",
		"game",         "trigger", "late inherit", "draw",    "protected",
		"max1",         "frame",
	};
	static const char *const between[] = { "", " 0 R", " P", " awake P idle", " idle P awake" };
	GRand *random = g_rand_new_with_seed(20261123);
	for (int i = 0; i < 2400; i++) {
		const char *setting = settings[i % (int)G_N_ELEMENTS(settings)];
		char *script = random_script(random, setting);
		char *other = random_script(random, setting);
		const char *before = g_rand_boolean(random) ? script : other;
		int change = g_rand_int_range(random, 0, 4);
		change += change == 3 && !strstr(setting, "idle");
		g_test_message("%s: %s%s %s", setting, before, between[change], script);
		char *dumps[2][N_BUFFERS], *streams[2];
		for (int again = 0; again < 2; again++) {
			world_begin(setting);
			/* The first time there is no memory yet in which a pass could be
			 * kept. */
			for (int n = 0; again && n < 2; n++) {
				world_play(before);
				world_play(between[change]);
			}
			uint32_t taken = world.taken;
			size_t seen = world.stream->len;
			world.taken = 0;
			world_play(script);
			world.taken += taken;
			streams[again] = g_strdup(g_strchug(world.stream->str + seen));
			for (unsigned b = 0; b < N_BUFFERS; b++)
				dumps[again][b] = world_dump(b);
			world_end();
		}
		g_assert_cmpstr(streams[1], ==, streams[0]);
		for (unsigned b = 0; b < N_BUFFERS; b++) {
			g_assert_cmpstr(dumps[1][b], ==, dumps[0][b]);
			g_free(dumps[0][b]);
			g_free(dumps[1][b]);
		}
		g_free(streams[0]);
		g_free(streams[1]);
		g_free(script);
		g_free(other);
	}
	g_rand_free(random);
}

/* ---- memory and life ---- */

static void
test_used_again(void)
{
	world_begin("");
	world_play("0 B rp draw end dispatch E");
	const struct vk_recording *first = world_command(0)->recording;
	const struct vk_pass *passes = first->passes;
	world_play("0 B rp draw end E");
	g_assert_true(world_command(0)->recording == first);
	g_assert_true(first->passes == passes);
	g_assert_cmpuint(first->n_passes, ==, 1);
	g_assert_cmpuint(world.released, ==, 3);

	/* A submission that was not read holds it: another recording takes its place. */
	struct vk_recording *held = vk_recording_ref(world_command(0)->recording);
	world_play("0 B dispatch E");
	struct vk_recording *second = world_command(0)->recording;
	g_assert_true(second != held);
	g_assert_cmpuint(held->n_passes, ==, 1);
	g_assert_cmpuint(world.released, ==, 3);
	vk_recording_unref(held, false);
	g_assert_cmpuint(world.released, ==, 5);
	g_assert_true(world_command(0)->recording == second);
	vk_recording_unref(NULL, false);
	world_end();
}

/* The driver decides: what it refuses to record has no recording. */
static void
test_refusals(void)
{
	world_begin("");
	world_play("0 B dispatch E");
	world.answer = VK_ERROR_OUT_OF_HOST_MEMORY;
	world_play("0 B dispatch");
	g_assert_null(world_command(0)->recording);
	g_assert_cmpstr(world.stream->str, ==, "B t0< a1< dispatch >1 >0 E B dispatch");
	world.answer = VK_SUCCESS;
	world_play("0 B dispatch");
	world.answer = VK_ERROR_OUT_OF_DEVICE_MEMORY;
	world_play("E");
	g_assert_null(world_command(0)->recording);
	world.answer = VK_SUCCESS;
	world_end();
}

/* Stopped in the middle: queries that were begun are still ended, and nothing new is recorded. */
static void
test_stopped(void)
{
	world_begin("");
	world_play("0 B rp draw");
	vk_device_stop(&world.device, "test");
	world_play("end E B rp draw end E");
	g_assert_cmpstr(world.stream->str, ==, "B t0< a1< rp draw end >1 >0 E B rp draw end E");
	g_assert_null(world_command(0)->recording);
	world_end();
}

static void
test_inheritance(void)
{
	static const struct {
		const char *what, *setting, *script;
		VkQueryPipelineStatisticFlags want;
	} rows[] = {
		{ "inside a pass", "inherit", "4 Bc", 0x400 },
		{ "with the game's own", "inherit game", "4 Bcq", 1 },
		{ "for simultaneous use", "inherit", "4 Bs", 0 },
		{ "the same inside a pass", "inherit", "4 Bcs", 0x400 },
		{ "with passes of its own", "inherit", "4 B", 0 },
		{ "granularity frame", "inherit frame", "4 B", 0x400 },
		{ "not offered", "", "4 Bc", 0 },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_test_message("%s", rows[i].what);
		world_begin(rows[i].setting);
		world_play(rows[i].script);
		g_assert_cmphex(world.inherited, ==, rows[i].want);
		g_assert_false(world.broke_begin);
		world_end();
	}
}

static void
test_freeing(void)
{
	world_begin("");
	world_play("4 Bc draw E 0 B rps x4 end E");
	struct vk_recording *r = vk_recording_ref(world_command(0)->recording);
	world_free(0);
	world_free(4);
	g_assert_cmpuint(world.released, ==, 0);
	g_assert_nonnull(r->inner[0]->own.page);
	vk_recording_unref(r, false);
	g_assert_cmpuint(world.released, ==, 3);
	world_play("0 B rp draw end E R"); /* not a known one */
	world_end();
}

static void
test_label_ceiling(void)
{
	world_begin("");
	world_play("0 B");
	for (int i = 0; i < 5000; i++)
		world_play("[a ]");
	world_play("dispatch E");
	const struct vk_recording *r = world_command(0)->recording;
	g_assert_true(r->broken);
	g_assert_cmpuint(r->n_items, ==, 8 * (64 + 64));
	g_assert_cmpuint(r->n_passes, ==, 1);
	world_end();
}

/* Ends without a matching begin must not leave levels on the queue's stack. */
static void
test_label_balance(void)
{
	world_begin("");
	world_play("0 B [outer [inner dispatch");
	for (int i = 0; i < 5000; i++)
		world_play("[a ]");
	world_play("] ] [after E");
	const struct vk_recording *r = world_command(0)->recording;
	int net = r->lost_labels;
	for (uint32_t i = 0; i < r->n_items; i++) {
		net += r->items[i].kind == VK_ITEM_LABEL_BEGIN;
		net -= r->items[i].kind == VK_ITEM_LABEL_END;
	}
	g_assert_cmpint(net, ==, 1);
	world_end();
}

static void
test_empty(void)
{
	/* No allocation before the first pass, except for the struct. */
	world_begin("");
	world_play("0 B E");
	const struct vk_recording *r = world_command(0)->recording;
	g_assert_null(r->passes);
	g_assert_null(r->items);
	g_assert_null(r->runs.runs);
	world_end();
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		char *path = g_strdup_printf("/vk-recording/case/%02zu %s", i, cases[i].what);
		g_strdelimit(path + strlen("/vk-recording/case/"), "/", '-');
		g_test_add_data_func(path, GSIZE_TO_POINTER(i), test_case);
		g_free(path);
	}
	g_test_add_func("/vk-recording/random", test_random);
	g_test_add_func("/vk-recording/random-again", test_random_again);
	g_test_add_func("/vk-recording/used-again", test_used_again);
	g_test_add_func("/vk-recording/refusals", test_refusals);
	g_test_add_func("/vk-recording/stopped", test_stopped);
	g_test_add_func("/vk-recording/inheritance", test_inheritance);
	g_test_add_func("/vk-recording/freeing", test_freeing);
	g_test_add_func("/vk-recording/label-ceiling", test_label_ceiling);
	g_test_add_func("/vk-recording/label-balance", test_label_balance);
	g_test_add_func("/vk-recording/empty", test_empty);
	return g_test_run();
}
