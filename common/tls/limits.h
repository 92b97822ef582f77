/* Limits on what a client of a TLS server sends, and on what is kept for it. */
#ifndef SELVEDGE_COMMON_TLS_LIMITS_H
#define SELVEDGE_COMMON_TLS_LIMITS_H

#define TLS_CERTS_MAX 32768 /* bytes of a client's certificates */
#define TLS_CHAIN_MAX 8
#define TLS_SESSIONS_MAX 1024 /* cached for clients without ticket support */
#define TLS_SESSION_SECONDS 300

/* Milliseconds of a connection that is relayed (relay.h). */
#define TLS_HANDSHAKE_MS 10000
#define TLS_STALL_MS 60000 /* a client that does not read its answer */

#endif
