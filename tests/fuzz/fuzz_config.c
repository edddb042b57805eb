/* SPDX-License-Identifier: MIT */
/* Any bytes as a file of options, as PASSTALLY_OPTIONS, as the value of one option, and as all
 * of these together. An accepted setting must be printed as words that set the same again; a
 * refused one must be refused with a sentence. The first byte chooses. */
#include "layer/config/file.h"
#include "layer/config/list.h"
#include "layer/config/load.h"
#include "layer/config/options.h"
#include "layer/config/path.h"
#include "tests/fuzz/fuzz.h"

#include "layer/config/config.h"

#include <sys/mman.h>
#include <unistd.h>

const struct fuzz_target fuzz_target = { "config",
					 "=,+:\\[]#;\n\"' \t%etp0129kKMGmsunf-_./*?\xc3\xa9", 100 };

static unsigned complaints;

static void
complain(void *data, const char *message)
{
	(void)data;
	complaints++;
	fuzz_require(message[0] != '\0', "a complaint is a sentence");
}

static void
check_option(const struct tally_option *option, const struct tally_config *config)
{
	static char text[1 << 17], again[1 << 17];
	char why[512] = "";
	size_t n = tally_option_get(option, config, text, sizeof(text));
	fuzz_require(tally_option_get(option, config, again, 2) == n, "the length without room");
	if (n >= sizeof(text))
		return;
	fuzz_require(strlen(text) == n, "the length is that of the text");
	struct tally_config other;
	tally_config_init(&other);
	if (n && !tally_option_set(option, &other, text, why, sizeof(why))) {
		fprintf(stderr, "%s=%s: %s\n", option->key, text, why);
		fuzz_require(false, "what is printed can be set");
	}
	tally_option_get(option, &other, again, sizeof(again));
	if (n && strcmp(text, again) != 0)
		fprintf(stderr, "%s: %s, then %s\n", option->key, text, again);
	fuzz_require(!n || strcmp(text, again) == 0, "what was printed sets the same");
	tally_config_finish(&other);
}

static void
check(struct tally_config *config)
{
	for (size_t i = 0; i < tally_n_options; i++)
		check_option(&tally_options[i], config);
	fuzz_require(config->every >= 1 && config->n_tags <= TALLY_MAX_TAGS, "limits hold");
	for (uint32_t i = 0; i < config->n_metrics; i++)
		fuzz_require(config->metrics[i].key && config->metrics[i].expression,
			     "a metric has a name and an expression");
	for (uint32_t i = 0; i < config->n_tags; i++)
		fuzz_require(config->tags[i].key && config->tags[i].value, "a tag is whole");
	free(tally_config_log_path(config->log, "a program", 1700000000000000000, 42));
	free(tally_config_log_path(config->control, "/x/p", 0, 1));
	if (config->counters)
		tally_list_matches(config->counters, "gpu_time", "GPU time");
}

static void
read_file(struct tally_config *config, const char *text, size_t size)
{
	char path[64];
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || write(fd, text, size) != (ssize_t)size)
		abort();
	complaints = 0;
	bool good = tally_config_read_file(config, path, TALLY_FROM_USER_FILE, complain, NULL);
	fuzz_require(good == (complaints == 0), "a file is refused with a sentence");
	close(fd);
}

static void
set_one(struct tally_config *config, const char *text, size_t size)
{
	const struct tally_option *option =
		&tally_options[size ? (uint8_t)text[0] % tally_n_options : 0];
	complaints = 0;
	bool good = tally_config_set(config, option->key, size ? text + 1 : "",
				     TALLY_FROM_COMMAND_LINE, complain, NULL);
	fuzz_require(good == (complaints == 0), "a value is refused with a sentence");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	size_t n = size - 1;
	char *text = malloc(n + 1);
	if (!text)
		abort();
	memcpy(text, data + 1, n);
	text[n] = '\0';
	struct tally_config config;
	tally_config_init(&config);
	switch (data[0] % 4) {
	case 0:
		read_file(&config, text, n);
		break;
	case 1:
		complaints = 0;
		bool good = tally_config_parse_options(&config, text, TALLY_FROM_ENVIRONMENT,
						       complain, NULL);
		fuzz_require(good == (complaints == 0), "options are refused with a sentence");
		break;
	case 2:
		set_one(&config, text, n);
		break;
	default:
		read_file(&config, text, n);
		setenv("PASSTALLY_OPTIONS", text, 1);
		setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
		tally_config_load(&config, "program", complain, NULL);
		unsetenv("PASSTALLY_OPTIONS");
		break;
	}
	check(&config);
	tally_config_finish(&config);
	free(text);
	return 0;
}
