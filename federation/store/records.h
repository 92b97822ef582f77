/* Records of the store: one function checks and copies each kind, on the way in and on the way out.
 * Hostile: the records of answers. */
#ifndef SELVEDGE_FEDERATION_STORE_RECORDS_H
#define SELVEDGE_FEDERATION_STORE_RECORDS_H

#include "common/arena.h"
#include "federation/store/store.h"

enum fed_kind {
    FED_MEMBER,
    FED_HOME,
    FED_RESERVATION,
    FED_POLICY,
    FED_KEY,
    FED_TOKEN,
    FED_SEQUENCE,
    FED_VERSION,
    FED_KINDS
};

/* Fields that an operation reads. */
#define FED_F_ID 0x01u         /* what the row is found by */
#define FED_F_ADDRESSES 0x02u  /* of a member */
#define FED_F_STATE 0x04u      /* of a member */
#define FED_F_FINAL 0x08u      /* as FED_F_STATE, and it is a final one */
#define FED_F_CAPABILITY 0x10u /* of a member, not "" */
#define FED_F_START 0x20u      /* of a member, with a capability that may be "" or NULL */
#define FED_F_HOME 0x40u
#define FED_F_SOME_HOME 0x80u /* as FED_F_HOME, or NULL */
#define FED_F_VALUE 0x100u    /* all the rest */
/* The record is an answer's: texts as long as the column has characters, times. */
#define FED_F_STORED 0x200u

/* Checks the fields of `in` and copies them to `ret`, with the bytes behind them into the arena;
 * other fields become 0. -EINVAL with a text that names record, field and rule; -ENOMEM. */
int fed_record_take(struct sv_arena *a, enum fed_kind kind, unsigned fields, const void *in,
                    void *ret, struct sv_error *err) _must_use_;
/* The fields of a whole record of an answer. */
unsigned fed_record_stored(enum fed_kind kind);
size_t fed_record_size(enum fed_kind kind);

#endif
