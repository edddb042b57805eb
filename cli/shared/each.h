/* SPDX-License-Identifier: MIT */
/* cli/shared/each.h - loops over GLib's arrays.
 *
 *	TALLY_EACH (const struct row, row, rows)      a GPtrArray of struct row *
 *	TALLY_EACH_OF (struct column, c, columns)     a GArray of struct column
 *
 * The item is declared by the loop; `break` and `continue` work as in any loop. The array must
 * not change meanwhile, and is evaluated more than once. Any thread.
 */
#ifndef PASSTALLY_CLI_SHARED_EACH_H
#define PASSTALLY_CLI_SHARED_EACH_H

#include <glib.h>

/* The inner loop declares the item and runs once; `break` leaves both. */
#define TALLY_EACH(type, item, array) \
	for (guint item##_at = 0, item##_left = 0; \
	     !item##_left && item##_at < (array)->len; item##_at++) \
		for (type *item = \
			     (item##_left = 1, g_ptr_array_index(array, item##_at)); \
		     item##_left; item##_left = 0)

#define TALLY_EACH_OF(type, item, array) \
	for (type *item = (type *)(void *)(array)->data, \
		  *item##_end = item + (array)->len; \
	     item < item##_end; item++)

#endif
