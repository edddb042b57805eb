/* cli/run/launch.h - start a program as our child and live beside it as if we were not
 * there.
 *
 * The child keeps our process group, so the terminal's signals and job control reach it by
 * themselves: SIGINT and SIGQUIT are ignored here while it runs. SIGTERM, SIGHUP, SIGUSR1
 * and SIGUSR2 sent to us are passed on. Its standard streams are untouched, unless `output`
 * is set. One program at a time; one thread.
 */
#ifndef PASSTALLY_CLI_LAUNCH_H
#define PASSTALLY_CLI_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

struct tally_launch {
	pid_t pid;
	int go; /* the child waits for us to close this */
	int error; /* errno of a failed exec comes back here */
	int status; /* as of waitpid(2), once it has ended */
	/* Set before tally_launch_go(): a file that takes what the program would write to a
	 * terminal; from one it then reads nothing. NULL: its streams are left alone. */
	const char *output;
};

/* Fork. The child waits until tally_launch_go(). False: errno says why. */
bool tally_launch_fork(struct tally_launch *launch, char *const *argv);
/* Let the child become argv[0] (searched for in PATH), with `value` in its environment under
 * `name`. 0, or the errno with which exec failed; the child is then gone. */
int tally_launch_go(struct tally_launch *launch, const char *name, const char *value);
/* Give up instead: the child ends without having been anything. */
void tally_launch_abort(struct tally_launch *launch);

/* Has it ended (and waits to be asked why)? */
bool tally_launch_is_over(const struct tally_launch *launch);
/* Wait for the end; `tick`, when not NULL, is called about four times a second. Afterwards the
 * signals mean again what they meant before. */
void tally_launch_wait(struct tally_launch *launch, void (*tick)(void *), void *data);

/* The exit status to pass on; does not return when the program died of a signal that we can die
 * of too (without a second core file). */
int tally_launch_leave(const struct tally_launch *launch);

#endif
