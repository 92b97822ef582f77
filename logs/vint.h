/* TFile's integers of 1 to 9 bytes (Hadoop's tfile.Utils, not WritableUtils). Pure. */
#ifndef SELVEDGE_LOGS_VINT_H
#define SELVEDGE_LOGS_VINT_H

#include "common/base.h"

#define LOGS_VINT_MAX 9

/* Returns the number of bytes. */
size_t logs_vint_encode(int64_t v, uint8_t ret[LOGS_VINT_MAX]);
/* Encoded size, 1 to 9, of a number whose first byte is `first`; -EBADMSG. */
int logs_vint_size(uint8_t first) _must_use_;
/* p: logs_vint_size(p[0]) bytes; that call must have succeeded. */
int64_t logs_vint_decode(const uint8_t *p);

#endif
