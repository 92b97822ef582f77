/* Bytes of one session between the client's socket and the program's descriptors, each way with a
 * bound: who does not read holds the other up. Pure of sessions: what a message means is the
 * caller's. */
#ifndef SELVEDGE_NODEMANAGER_EXEC_RELAY_H
#define SELVEDGE_NODEMANAGER_EXEC_RELAY_H

#include <systemd/sd-event.h>

#include "common/buf.h"
#include "common/web/websocket.h"
#include "executor/exe-session.h"

#define NM_RELAY_CHUNK 16384 /* bytes read at a time */
#define NM_RELAY_HELD                                                                              \
    ((size_t)64 << 10) /* bytes that wait for a side, before it holds the other up */

enum nm_relay_stream { NM_RELAY_OUT, NM_RELAY_ERR };

struct nm_relay;
/* From the loop; `frame` and `output` may not free the relay, `turn` may: it is called last. */
struct nm_relay_ops {
    void (*frame)(const struct sv_ws_frame *f, void *userdata);
    void (*output)(enum nm_relay_stream from, const uint8_t *data, size_t n, void *userdata);
    /* After everything that was done; `broken`: the client is gone (0), or breaks the protocol. */
    void (*turn)(bool ended, int broken, void *userdata);
};

int nm_relay_new(sd_event *event, int client, const struct nm_relay_ops *ops, void *userdata,
                 struct nm_relay **ret) _must_use_;
struct nm_relay *nm_relay_free(struct nm_relay *r);
/* Bytes that came with the request. */
int nm_relay_early(struct nm_relay *r, const void *data, size_t n) _must_use_;
/* Takes the program's descriptors over. */
int nm_relay_program(struct nm_relay *r, const struct exe_session_io *io) _must_use_;
/* Puts a message for the client; the buffer has room for one beyond the bound. */
int nm_relay_send(struct nm_relay *r, enum sv_ws_opcode opcode, const void *data, size_t n)
    _must_use_;
int nm_relay_close(struct nm_relay *r, unsigned code, const char *words) _must_use_;
/* Puts input for the program, which may come later; dropped when it takes none any more. */
int nm_relay_input(struct nm_relay *r, const void *data, size_t n) _must_use_;
/* No more input comes: a pipe is closed behind what waits, a terminal stays. */
void nm_relay_input_ends(struct nm_relay *r);
void nm_relay_resize(struct nm_relay *r, uint16_t rows, uint16_t columns);
/* The program has ended: what it has written is read, and no more awaited. */
void nm_relay_program_ended(struct nm_relay *r);
/* All that the program has written has been passed on. */
bool nm_relay_is_drained(const struct nm_relay *r);
/* Nothing waits for the client. */
bool nm_relay_is_sent(const struct nm_relay *r);
/* Goes on after calls from elsewhere than its ops; ends with ops.turn(). */
void nm_relay_turn(struct nm_relay *r);
int64_t nm_relay_used_ms(const struct nm_relay *r); /* monotonic: the last byte */

#endif
