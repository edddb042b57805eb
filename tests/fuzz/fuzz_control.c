/* SPDX-License-Identifier: MIT */
/* Any packets to a game's control socket, and any answers to the command. The first byte
 * chooses. The game must answer each packet with "ok" or "error" and at least one line of text,
 * and continue; the command must give the answer's text, or say why there is none. */
#include "tests/fuzz/fuzz.h"

#include "layer/capture/capture.h"
#include "layer/log.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* No session runs here: the requests must be accepted, not refused as too late. */
#define tally_capture_state() TALLY_STATE_RUNNING
#include "layer/capture/control.c"
#undef tally_capture_state

/* The other end of the command's connection is a socket of this program that has answered
 * already. */
static int other_end;
#define connect(fd, address, size) (dup2(other_end, fd) == fd ? 0 : -1)
#include "cli/control/client.c"
#undef connect

const struct fuzz_target fuzz_target = { "control", "startopmkdugle \n\x01\x7f\xc3\xa9", 200 };

static bool
ends_well(const char *text, size_t n)
{
	return n > 3 && text[n - 1] == '\n' &&
	       (strncmp(text, "ok\n", 3) == 0 || (n > 6 && strncmp(text, "error\n", 6) == 0));
}

static void
ask_game(const uint8_t *packet, size_t n)
{
	static char reply[TALLY_CONTROL_MAX_REPLY + 1];
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		abort();
	if (send(ends[0], packet, n, MSG_NOSIGNAL) == (ssize_t)n) {
		serve_client(ends[1]);
		ssize_t got = recv(ends[0], reply, sizeof(reply), MSG_DONTWAIT);
		/* An empty packet is a client that hung up. */
		fuzz_require(n == 0 || got > 0, "each packet is answered");
		fuzz_require(n == 0 || ends_well(reply, (size_t)got), "an answer is ok or error");
		for (ssize_t i = 0; i < got; i++)
			fuzz_require(reply[i] == '\n' || (uint8_t)reply[i] >= 0x20,
				     "an answer is text");
	}
	close(ends[0]);
	close(ends[1]);
	struct tally_note_record note;
	while (tally_log_take(&note))
		fuzz_require(note.message && strlen(note.message) < 512, "a mark is bounded");
}

/* Packets whose length is given by the byte before them. */
static void
ask_often(struct fuzz_input *in)
{
	while (in->left) {
		size_t n = (size_t)fuzz_byte(in) * 3;
		n = n < in->left ? n : in->left;
		uint8_t *packet = fuzz_copy(in->at, n);
		ask_game(packet, n);
		free(packet);
		in->at += n;
		in->left -= n;
	}
	ask_game((const uint8_t *)"status", 6);
}

static void
answer_command(const struct fuzz_input *in)
{
	int ends[2];
	bool refused = false;
	long pid = 0;
	char sentence[256] = "";
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		abort();
	/* An answer of no bytes is a game that hung up. */
	if (in->left && send(ends[1], in->at, in->left, MSG_NOSIGNAL) < 0)
		goto hang_up;
	other_end = ends[0];
	shutdown(ends[1], in->left ? 0 : SHUT_WR);
	char *text = tally_control_ask("/tmp/fuzz.sock", "status", &refused, &pid, sentence,
				       sizeof(sentence));
	fuzz_require(text || sentence[0], "no answer has a reason");
	fuzz_require(!text || pid > 0, "an answer is some process's");
	g_free(text);
hang_up:
	close(ends[0]);
	close(ends[1]);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	control.socket.fd = -1;
	if (fuzz_byte(&in) % 2)
		answer_command(&in);
	else
		ask_often(&in);
	return 0;
}
