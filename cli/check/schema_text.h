/* cli/check/schema_text.h - json/schema/passtally-1.json, as the build put it into the command.
 *
 * Defined in a file that scripts/embed_text.py makes. Constant: any thread.
 */
#ifndef PASSTALLY_CLI_SCHEMA_TEXT_H
#define PASSTALLY_CLI_SCHEMA_TEXT_H

#include <stddef.h>

extern const char tally_schema_text[]; /* ends in a NUL */
extern const size_t tally_schema_text_len;

#endif
