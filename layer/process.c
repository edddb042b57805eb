#include "layer/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_COMMAND_LINE (64u << 10)

void
tally_process_program(char *out, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", out, size - 1);
	out[n > 0 ? n : 0] = '\0';
}

/* Up to `size` bytes; 0 when there are none to be had. */
static size_t
read_command_line(char *out, size_t size)
{
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	size_t len = 0;
	while (len < size) {
		ssize_t n = read(fd, out + len, size - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	close(fd);
	return len;
}

void
tally_process_read(struct tally_process *process)
{
	*process = (struct tally_process){ 0 };
	char *text = malloc(MAX_COMMAND_LINE + 1);
	if (!text)
		return;
	size_t len = read_command_line(text, MAX_COMMAND_LINE);
	text[len] = '\0';
	uint32_t n = 0;
	for (size_t at = 0; at < len; at += strlen(text + at) + 1)
		n++;
	const char **argv = n ? calloc(n, sizeof(*argv)) : NULL;
	if (!argv) {
		free(text);
		return;
	}
	uint32_t i = 0;
	for (size_t at = 0; at < len; at += strlen(text + at) + 1)
		argv[i++] = text + at;
	process->argv = argv;
	process->n_argv = n;
	process->text = text;
}

void
tally_process_finish(struct tally_process *process)
{
	free(process->argv);
	free(process->text);
	*process = (struct tally_process){ 0 };
}
