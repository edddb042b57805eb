/* cli/check/schema_text.h - the JSON Schema of the log, as the build made it from
 * json/log.fields.
 *
 * Defined in a file that scripts/embed_text.py makes. Constant: any thread.
 */
#ifndef PASSTALLY_CLI_SCHEMA_TEXT_H
#define PASSTALLY_CLI_SCHEMA_TEXT_H

#include <stddef.h>

extern const char tally_schema_text[]; /* ends in a NUL */
extern const size_t tally_schema_text_len;

#endif
