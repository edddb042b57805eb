/* SPDX-License-Identifier: MIT */
/* The file of whole lines: how it is opened, what a full disk, an interrupted write and a
 * program that misuses passtally's descriptor leave in it. */
#include <glib.h>
#include <glib/gstdio.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "json/sink.h"

/* ---- a write(2) that follows a test's script, for descriptors from 64 up: those of sinks
 * ---- */

static struct {
	size_t most; /* bytes a call takes, 0 = all */
	int64_t left; /* bytes until the disk is full, -1 = never */
	int error; /* errno of a full disk */
	int interrupts; /* EINTR that many times first */
	int calls;
} disk = { .left = -1 };

ssize_t write(int fd, const void *bytes, size_t len);

ssize_t
write(int fd, const void *bytes, size_t len)
{
	if (fd < 64)
		return syscall(SYS_write, fd, bytes, len);
	disk.calls++;
	if (disk.interrupts > 0) {
		disk.interrupts--;
		errno = EINTR;
		return -1;
	}
	if (disk.most && len > disk.most)
		len = disk.most;
	if (disk.left == 0) {
		errno = disk.error;
		return -1;
	}
	if (disk.left > 0 && len > (size_t)disk.left)
		len = (size_t)disk.left;
	ssize_t n = syscall(SYS_write, fd, bytes, len);
	if (n > 0 && disk.left > 0)
		disk.left -= n;
	return n;
}

static void
reset_disk(void)
{
	memset(&disk, 0, sizeof(disk));
	disk.left = -1;
}

/* ---- helpers ---- */

static char *folder;

static char *
name_file(const char *name)
{
	return g_build_filename(folder, name, NULL);
}

static struct tally_recorder *
try_open(const struct tally_recorder_options *options, enum tally_record_status want,
	 const char *want_why)
{
	enum tally_record_status status = TALLY_RECORD_IO;
	char why[512] = "";
	struct tally_recorder *sink = tally_sink_open(options, &status, why, sizeof(why));
	g_assert_cmpint(status, ==, want);
	g_assert_cmpint(sink != NULL, ==, want == TALLY_RECORD_OK);
	if (!strstr(why, want_why))
		g_assert_cmpstr(why, ==, want_why);
	if (!sink)
		g_assert_nonnull(strstr(why, options->path)); /* what, to what, */
	return sink;
}

static struct tally_recorder *
open_plain(const char *path, uint64_t max_bytes)
{
	const struct tally_recorder_options options = { .path = path, .max_bytes = max_bytes };
	return try_open(&options, TALLY_RECORD_OK, "");
}

/* A line of `len` bytes and the newline. */
static enum tally_record_status
put_line(struct tally_recorder *sink, size_t len, uint64_t reserve)
{
	struct tally_json_writer *w = tally_sink_begin_line(sink);
	if (!w)
		return tally_sink_flush(sink);
	for (size_t i = 0; i < len; i++)
		tally_json_put(w, i + 1 < len ? "x" : "y", 1);
	return tally_sink_end_line(sink, reserve);
}

static char *
read_file(const char *path, size_t *len)
{
	char *bytes;
	g_assert_true(g_file_get_contents(path, &bytes, len, NULL));
	return bytes;
}

/* The file is `n` lines of `len` bytes, nothing else. */
static void
check_file(const char *path, size_t n, size_t len)
{
	size_t size;
	char *bytes = read_file(path, &size);
	g_assert_cmpuint(size, ==, n * (len + 1));
	for (size_t i = 0; i < n; i++)
		g_assert_cmpint(bytes[(i + 1) * (len + 1) - 1], ==, '\n');
	g_free(bytes);
}

/* ---- opening ---- */

static void
test_open(void)
{
	char *path = name_file("new");
	struct tally_recorder *sink = open_plain(path, 0);
	struct stat file;
	g_assert_cmpint(stat(path, &file), ==, 0);
	g_assert_cmpint(file.st_mode & 07777, ==, 0600);
	g_assert_cmpint(put_line(sink, 10, 0), ==, TALLY_RECORD_OK);
	tally_sink_close(sink);
	g_assert_cmpint(stat(path, &file), ==, 0);
	g_assert_cmpint(file.st_size, ==, 11);
	check_file(path, 1, 10);

	/* It exists now. */
	const struct tally_recorder_options again = { .path = path };
	try_open(&again, TALLY_RECORD_EXISTS, "--force");
	check_file(path, 1, 10);

	/* Replaced, with the mode of a new one. */
	g_assert_cmpint(chmod(path, 0644), ==, 0);
	const struct tally_recorder_options force = { .path = path, .force = true };
	sink = try_open(&force, TALLY_RECORD_OK, "");
	g_assert_cmpint(stat(path, &file), ==, 0);
	g_assert_cmpint(file.st_mode & 07777, ==, 0600);
	g_assert_cmpint(put_line(sink, 3, 0), ==, TALLY_RECORD_OK);
	tally_sink_close(sink);
	check_file(path, 1, 3);
	g_unlink(path);
	g_free(path);
}

static void
test_descriptor(void)
{
	char *path = name_file("descriptor");
	struct tally_recorder *sink = open_plain(path, 0);
	int found = -1;
	for (int fd = 3; fd < 256; fd++) {
		char link[64], target[512] = "";
		g_snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		if (readlink(link, target, sizeof(target) - 1) > 0 && strcmp(target, path) == 0)
			found = fd;
	}
	g_assert_cmpint(found, >=, 64); /* out of the way of programs that count on low ones */
	g_assert_cmpint(fcntl(found, F_GETFD) & FD_CLOEXEC, ==, FD_CLOEXEC);
	tally_sink_close(sink);
	g_assert_cmpint(fcntl(found, F_GETFD), ==, -1);
	g_unlink(path);
	g_free(path);
}

static void
test_open_refused(void)
{
	char *link = name_file("link"), *target = name_file("target"), *fifo = name_file("fifo");
	char *missing = g_build_filename(folder, "no", "such", "file", NULL);
	g_assert_true(g_file_set_contents(target, "precious\n", -1, NULL));
	g_assert_cmpint(symlink(target, link), ==, 0);
	g_assert_cmpint(mkfifo(fifo, 0600), ==, 0);
	const struct {
		const char *path;
		bool force;
		enum tally_record_status status;
		const char *why;
	} cases[] = {
		{ target, false, TALLY_RECORD_EXISTS, "--force" },
		{ link, false, TALLY_RECORD_EXISTS, "--force" },
		{ link, true, TALLY_RECORD_DENIED, "symbolic link" },
		{ fifo, true, TALLY_RECORD_DENIED, "cannot be opened" },
		{ folder, false, TALLY_RECORD_EXISTS, "--force" },
		{ folder, true, TALLY_RECORD_DENIED, "Is a directory" },
		{ "/dev/null", true, TALLY_RECORD_DENIED, "only regular files" },
		{ missing, false, TALLY_RECORD_DENIED, "No such file or directory" },
		{ "/proc/passtally", false, TALLY_RECORD_DENIED, " -o PATH" },
		{ "", false, TALLY_RECORD_DENIED, " -o PATH" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_test_message("%s", cases[i].path);
		const struct tally_recorder_options options = { .path = cases[i].path,
								.force = cases[i].force };
		try_open(&options, cases[i].status, cases[i].why);
	}
	/* A FIFO that is being read can be opened, and is still refused. */
	int reader = open(fifo, O_RDONLY | O_NONBLOCK);
	const struct tally_recorder_options read_fifo = { .path = fifo, .force = true };
	try_open(&read_fifo, TALLY_RECORD_DENIED, "only regular files");
	close(reader);

	size_t len;
	char *kept = read_file(target, &len);
	g_assert_cmpstr(kept, ==, "precious\n");
	g_free(kept);
	g_unlink(link);
	g_unlink(target);
	g_unlink(fifo);
	g_free(link);
	g_free(target);
	g_free(fifo);
	g_free(missing);
}

static void
test_make_folders(void)
{
	char *path = g_build_filename(folder, "a", "b", "log", NULL);
	const struct tally_recorder_options options = { .path = path, .make_folders = true };
	struct tally_recorder *sink = try_open(&options, TALLY_RECORD_OK, "");
	tally_sink_close(sink);
	check_file(path, 0, 0);
	g_unlink(path);
	for (int i = 0; i < 2; i++) {
		char *parent = g_path_get_dirname(path);
		struct stat made;
		g_assert_cmpint(stat(parent, &made), ==, 0);
		g_assert_cmpint(made.st_mode & 0777, ==, 0700);
		g_assert_cmpint(g_rmdir(parent), ==, 0);
		g_free(path);
		path = parent;
	}
	g_free(path);
}

/* ---- writing ---- */

static const struct {
	const char *what;
	size_t n, len; /* lines */
	size_t most;
	int interrupts;
} write_cases[] = {
	{ "nothing", 0, 0, 0, 0 },
	{ "empty lines", 3, 0, 0, 0 },
	{ "fits the buffer", 10, 100, 0, 0 },
	{ "fills it many times", 5000, 1000, 0, 0 },
	{ "lines as long as the buffer", 5, 256 * 1024 - 1, 0, 0 },
	{ "lines longer than the buffer", 3, 1000000, 0, 0 },
	{ "short writes", 100, 1000, 333, 0 },
	{ "interrupted writes", 100, 1000, 50000, 7 },
};

static void
test_write(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(write_cases); i++) {
		g_test_message("%s", write_cases[i].what);
		char *path = name_file("written");
		struct tally_recorder *sink = open_plain(path, 0);
		disk.most = write_cases[i].most;
		disk.interrupts = write_cases[i].interrupts;
		for (size_t n = 0; n < write_cases[i].n; n++)
			g_assert_cmpint(put_line(sink, write_cases[i].len, 0), ==,
					TALLY_RECORD_OK);
		g_assert_cmpint(tally_sink_flush(sink), ==, TALLY_RECORD_OK);
		check_file(path, write_cases[i].n, write_cases[i].len);
		g_assert_cmpstr(tally_sink_why(sink), ==, "");
		tally_sink_close(sink);
		check_file(path, write_cases[i].n, write_cases[i].len);
		reset_disk();
		g_unlink(path);
		g_free(path);
	}
}

/* A line that was begun and not ended is not written, neither by flush nor by close. */
static void
test_half_a_line(void)
{
	char *path = name_file("half");
	struct tally_recorder *sink = open_plain(path, 0);
	g_assert_cmpint(put_line(sink, 5, 0), ==, TALLY_RECORD_OK);
	TALLY_JSON_PUT(tally_sink_begin_line(sink), "half a l");
	g_assert_cmpint(tally_sink_flush(sink), ==, TALLY_RECORD_OK);
	check_file(path, 1, 5);
	TALLY_JSON_PUT(tally_sink_begin_line(sink), "half a l");
	tally_sink_close(sink);
	check_file(path, 1, 5);
	g_unlink(path);
	g_free(path);
}

static const struct {
	int error;
	enum tally_record_status status;
	const char *why;
} full_cases[] = {
	{ ENOSPC, TALLY_RECORD_FULL, "No space left on device" },
	{ EDQUOT, TALLY_RECORD_FULL, "Disk quota exceeded" },
	{ EFBIG, TALLY_RECORD_FULL, "ulimit -f" },
	{ EIO, TALLY_RECORD_IO, "Input/output error" },
};

/* Wherever the disk becomes full, only whole lines remain, and all that fit. */
static void
test_full(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(full_cases); i++) {
		for (int64_t room = 0; room < 1000; room += 7) {
			char *path = name_file("full");
			struct tally_recorder *sink = open_plain(path, 0);
			disk.left = room;
			disk.error = full_cases[i].error;
			disk.most = room % 2 ? 64 : 0;
			for (int n = 0; n < 100; n++)
				g_assert_cmpint(put_line(sink, 99, 0), ==, TALLY_RECORD_OK);
			g_assert_cmpint(tally_sink_flush(sink), ==, full_cases[i].status);
			g_assert_nonnull(strstr(tally_sink_why(sink), full_cases[i].why));
			check_file(path, (size_t)room / 100, 99);
			/* It stays full even when there is room again. */
			reset_disk();
			g_assert_cmpint(put_line(sink, 99, 0), ==, full_cases[i].status);
			g_assert_null(tally_sink_begin_line(sink));
			tally_sink_close(sink);
			check_file(path, (size_t)room / 100, 99);
			g_unlink(path);
			g_free(path);
		}
	}
}

/* The same with a real limit on the file's size, whose signal would end the process. */
static void
test_file_size_limit(void)
{
	char *path = name_file("limited");
	pid_t child = fork();
	if (child == 0) {
		signal(SIGXFSZ, SIG_DFL);
		struct rlimit limit = { 1000, 1000 };
		setrlimit(RLIMIT_FSIZE, &limit);
		enum tally_record_status status;
		char why[256];
		const struct tally_recorder_options options = { .path = path };
		struct tally_recorder *sink = tally_sink_open(&options, &status, why, sizeof(why));
		for (int n = 0; sink && n < 100; n++)
			put_line(sink, 99, 0);
		status = sink ? tally_sink_flush(sink) : TALLY_RECORD_IO;
		tally_sink_close(sink);
		sigset_t pending;
		sigpending(&pending);
		_exit(status == TALLY_RECORD_FULL && !sigismember(&pending, SIGXFSZ) ? 0 : 1);
	}
	int status;
	g_assert_cmpint(waitpid(child, &status, 0), ==, child);
	g_assert_true(WIFEXITED(status));
	g_assert_cmpint(WEXITSTATUS(status), ==, 0);
	check_file(path, 10, 99);
	g_unlink(path);
	g_free(path);
}

static void
test_limit(void)
{
	char *path = name_file("limit");
	struct tally_recorder *sink = open_plain(path, 1000);
	/* Lines of 100 bytes; the last 250 bytes of the file stay free. */
	for (int n = 0; n < 7; n++)
		g_assert_cmpint(put_line(sink, 99, 250), ==, TALLY_RECORD_OK);
	g_assert_cmpint(put_line(sink, 99, 250), ==, TALLY_RECORD_LIMIT);
	g_assert_nonnull(strstr(tally_sink_why(sink), "--max-log"));
	g_assert_cmpint(put_line(sink, 49, 250), ==, TALLY_RECORD_OK); /* 750 */
	g_assert_cmpint(put_line(sink, 0, 250), ==, TALLY_RECORD_LIMIT);
	g_assert_cmpint(put_line(sink, 249, 0), ==, TALLY_RECORD_OK); /* 1000 */
	g_assert_cmpint(put_line(sink, 0, 0), ==, TALLY_RECORD_LIMIT);
	tally_sink_close(sink);
	size_t len;
	g_free(read_file(path, &len));
	g_assert_cmpuint(len, ==, 1000);
	g_unlink(path);
	g_free(path);
}

/* A line that no reader would accept is not written; the next one is. */
static void
test_longest_line(void)
{
	char *path = name_file("longest");
	struct tally_recorder *sink = open_plain(path, 0);
	g_assert_cmpint(put_line(sink, 9, 0), ==, TALLY_RECORD_OK);
	char block[TALLY_JSON_ROOM];
	memset(block, 'x', sizeof(block));
	struct tally_json_writer *w = tally_sink_begin_line(sink);
	for (size_t i = 0; i <= TALLY_LINE_MAX / sizeof(block); i++)
		tally_json_put(w, block, sizeof(block));
	g_assert_cmpint(tally_sink_end_line(sink, 0), ==, TALLY_RECORD_LIMIT);
	g_assert_nonnull(strstr(tally_sink_why(sink), "--max-passes"));
	g_assert_cmpint(put_line(sink, 9, 0), ==, TALLY_RECORD_OK);
	tally_sink_close(sink);
	check_file(path, 2, 9);
	g_unlink(path);
	g_free(path);
}

/* ---- what the program does to the descriptor ---- */

static int
find_descriptor(const char *path)
{
	struct stat file, open_file;
	g_assert_cmpint(stat(path, &file), ==, 0);
	for (int fd = 64; fd < 1024; fd++) {
		if (fstat(fd, &open_file) == 0 && open_file.st_ino == file.st_ino)
			return fd;
	}
	g_assert_not_reached();
}

/* passtally's descriptor is closed, and its number given to a file of the game: not a byte is
 * written there. */
static void
test_stolen_descriptor(void)
{
	char *path = name_file("stolen"), *other = name_file("other");
	struct tally_recorder *sink = open_plain(path, 0);
	g_assert_cmpint(put_line(sink, 9, 0), ==, TALLY_RECORD_OK);
	g_assert_cmpint(tally_sink_flush(sink), ==, TALLY_RECORD_OK);
	int fd = find_descriptor(path);
	g_assert_true(g_file_set_contents(other, "the game's", -1, NULL));
	int game = open(other, O_RDWR);
	g_assert_cmpint(dup2(game, fd), ==, fd);
	g_assert_cmpint(put_line(sink, 9, 0), ==, TALLY_RECORD_OK);
	g_assert_cmpint(tally_sink_flush(sink), ==, TALLY_RECORD_IO);
	g_assert_nonnull(strstr(tally_sink_why(sink), "the program closed our file"));
	tally_sink_close(sink);
	g_assert_cmpint(fcntl(fd, F_GETFD), !=, -1); /* still open: not closed */
	close(fd);
	close(game);
	size_t len;
	char *bytes = read_file(other, &len);
	g_assert_cmpstr(bytes, ==, "the game's");
	g_free(bytes);
	check_file(path, 1, 9);
	g_unlink(path);
	g_unlink(other);
	g_free(path);
	g_free(other);
}

static void
test_fork(void)
{
	char *path = name_file("forked");
	struct tally_recorder *sink = open_plain(path, 0);
	g_assert_cmpint(put_line(sink, 9, 0), ==, TALLY_RECORD_OK);
	pid_t child = fork();
	if (child == 0) {
		int fd = find_descriptor(path);
		tally_sink_abandon(sink);
		_exit(fcntl(fd, F_GETFD) == -1 ? 0 : 1); /* the child's copy is closed */
	}
	int status;
	g_assert_cmpint(waitpid(child, &status, 0), ==, child);
	g_assert_cmpint(status, ==, 0);
	check_file(path, 0, 0);
	g_assert_cmpint(put_line(sink, 9, 0), ==, TALLY_RECORD_OK);
	tally_sink_close(sink);
	check_file(path, 2, 9);
	tally_sink_abandon(NULL);
	tally_sink_close(NULL);
	g_unlink(path);
	g_free(path);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	folder = g_dir_make_tmp("passtally-unit-XXXXXX", NULL);
	g_assert_nonnull(folder);
	umask(022);
	g_test_add_func("/sink/open", test_open);
	g_test_add_func("/sink/descriptor", test_descriptor);
	g_test_add_func("/sink/open_refused", test_open_refused);
	g_test_add_func("/sink/make_folders", test_make_folders);
	g_test_add_func("/sink/write", test_write);
	g_test_add_func("/sink/half_a_line", test_half_a_line);
	g_test_add_func("/sink/full", test_full);
	g_test_add_func("/sink/file_size_limit", test_file_size_limit);
	g_test_add_func("/sink/limit", test_limit);
	g_test_add_func("/sink/longest_line", test_longest_line);
	g_test_add_func("/sink/stolen_descriptor", test_stolen_descriptor);
	g_test_add_func("/sink/fork", test_fork);
	int result = g_test_run();
	g_rmdir(folder);
	g_free(folder);
	return result;
}
