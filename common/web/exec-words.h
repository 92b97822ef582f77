/* Messages of the WebSocket's subprotocol "selvedge-exec-1", by which `selvedge exec` and a
 * NodeManager speak of one session in a container. Each is one binary message; its first byte says
 * what it is, numbers are big-endian.
 *
 *    client   START   terminal (0, 1), rows, columns (2 bytes each), TERM and the arguments, each
 *                     with its NUL; the first message
 *             INPUT   bytes for the program; none: no more of them
 *             SIZE    rows, columns
 *    server   OUTPUT, ERRORS   bytes of the program
 *             END     reason (1 byte), exit code (1 byte), a text; the last message
 *
 * A client that closes ends the program. Hostile: START and SIZE in the NodeManager; all of the
 * server's in the client. */
#ifndef SELVEDGE_COMMON_WEB_EXEC_WORDS_H
#define SELVEDGE_COMMON_WEB_EXEC_WORDS_H

#include "common/buf.h"

#define SV_EXEC_PROTOCOL "selvedge-exec-1"
#define SV_EXEC_ARGUMENTS_MAX 256
#define SV_EXEC_START_MAX 24576 /* bytes of START; its variables come beside it later */
#define SV_EXEC_DATA_MAX 16384  /* bytes of INPUT, OUTPUT, ERRORS */
#define SV_EXEC_TEXT_MAX 512    /* bytes of END's text */

enum sv_exec_word {
    SV_EXEC_START = 0,
    SV_EXEC_INPUT = 1,
    SV_EXEC_SIZE = 2,
    SV_EXEC_OUTPUT = 3,
    SV_EXEC_ERRORS = 4,
    SV_EXEC_END = 5,
};

enum sv_exec_reason { SV_EXEC_EXITED = 0, SV_EXEC_FAILED = 1 /* the text says why */ };

struct sv_exec_start {
    bool terminal;
    uint16_t rows, columns;
    const char *term;                                 /* "" or a plain name */
    const char *arguments[SV_EXEC_ARGUMENTS_MAX + 1]; /* NULL-terminated, at least one */
};

/* Reads a START, of the bytes behind its first; the result points into them. -EBADMSG. */
int sv_exec_read_start(const uint8_t *data, size_t n, struct sv_exec_start *ret) _must_use_;
/* Puts a whole START; -E2BIG: too large, or too many arguments. */
int sv_exec_put_start(struct sv_buf *out, const struct sv_exec_start *s) _must_use_;
int sv_exec_read_size(const uint8_t *data, size_t n, uint16_t *ret_rows, uint16_t *ret_columns)
    _must_use_;

struct sv_exec_end {
    enum sv_exec_reason reason;
    uint8_t code;
    char text[SV_EXEC_TEXT_MAX]; /* valid UTF-8 without control characters */
};
int sv_exec_read_end(const uint8_t *data, size_t n, struct sv_exec_end *ret) _must_use_;
/* Puts a whole END. */
int sv_exec_put_end(struct sv_buf *out, const struct sv_exec_end *e) _must_use_;

#endif
