/* SPDX-License-Identifier: MIT */
/* Never gets as far as this: early_exit.c ends the process. */
int early_exit_status(void);

int
main(void)
{
	return early_exit_status();
}
