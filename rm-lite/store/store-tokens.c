/* Delegation tokens in the state store. See store-tokens.h. Rows are validated when read, because a
 * disk may be corrupt. */
#include "rm-lite/store/store-tokens.h"

#include <string.h>

#include "rm-lite/store/store-internal.h"

#define SEQUENCE "delegation-sequence"

static int load_keys(struct rm *rm, const struct rm_store_tokens *to, struct sv_error *err)
{
    struct rm_store *s = rm->store;
    sqlite3_stmt *q = NULL;
    int r;

    if (sqlite3_prepare_v2(s->db, "SELECT key_id, bytes, made, expires FROM token_keys", -1, &q,
                           NULL) != SQLITE_OK)
        return rm_store_db_error(s, err, "token_keys");
    while ((r = sqlite3_step(q)) == SQLITE_ROW) {
        struct rm_stored_key k = { .key.key_id = sqlite3_column_int(q, 0),
                                   .made_ms = sqlite3_column_int64(q, 2),
                                   .expires_ms = sqlite3_column_int64(q, 3) };
        int n = sqlite3_column_bytes(q, 1);

        if (k.key.key_id <= 0 || n <= 0 || n > YARN_MASTER_KEY_MAX)
            continue;
        k.key.len = (size_t)n;
        memcpy(k.key.bytes, sqlite3_column_blob(q, 1), k.key.len);
        to->key(rm, &k);
    }
    (void)sqlite3_finalize(q);
    return r == SQLITE_DONE ? 0 : rm_store_db_error(s, err, "token_keys");
}

static int load_tokens(struct rm *rm, const struct rm_store_tokens *to, struct sv_error *err)
{
    struct rm_store *s = rm->store;
    sqlite3_stmt *q = NULL;
    int r;

    if (sqlite3_prepare_v2(s->db, "SELECT sequence, id, renew FROM tokens ORDER BY sequence", -1,
                           &q, NULL) != SQLITE_OK)
        return rm_store_db_error(s, err, "tokens");
    while ((r = sqlite3_step(q)) == SQLITE_ROW)
        if (sqlite3_column_bytes(q, 1) > 0)
            to->token(rm, sqlite3_column_int(q, 0), sqlite3_column_blob(q, 1),
                      (size_t)sqlite3_column_bytes(q, 1), sqlite3_column_int64(q, 2));
    (void)sqlite3_finalize(q);
    return r == SQLITE_DONE ? 0 : rm_store_db_error(s, err, "tokens");
}

int rm_store_tokens_load(struct rm *rm, const struct rm_store_tokens *to, int32_t *ret_sequence,
                         struct sv_error *err)
{
    int64_t sequence = 0;
    int r = 0;

    if (rm->store->db) {
        if ((r = rm_store_load_meta(rm->store, SEQUENCE, 0, &sequence, err)) < 0 ||
            (r = load_keys(rm, to, err)) < 0 || (r = load_tokens(rm, to, err)) < 0)
            return r;
    }
    *ret_sequence = sequence > 0 && sequence <= INT32_MAX ? (int32_t)sequence : 0;
    return 0;
}

void rm_store_token(struct rm *rm, int32_t sequence, const uint8_t *id, size_t len,
                    int64_t renew_ms)
{
    struct rm_store *s = rm->store;
    sqlite3_stmt *q = s->stmts[PUT_TOKEN];

    if (!rm_store_begin(s))
        return;
    (void)sqlite3_bind_int(q, 1, sequence);
    (void)sqlite3_bind_blob(q, 2, id, (int)len, SQLITE_STATIC);
    (void)sqlite3_bind_int64(q, 3, renew_ms);
    rm_store_write(s, PUT_TOKEN);
}

void rm_store_token_sequence(struct rm *rm, int32_t last)
{
    struct rm_store *s = rm->store;

    if (!rm_store_begin(s))
        return;
    (void)sqlite3_bind_text(s->stmts[PUT_META], 1, SEQUENCE, -1, SQLITE_STATIC);
    (void)sqlite3_bind_int64(s->stmts[PUT_META], 2, last);
    rm_store_write(s, PUT_META);
}

void rm_store_token_remove(struct rm *rm, int32_t sequence)
{
    struct rm_store *s = rm->store;

    if (!rm_store_begin(s))
        return;
    (void)sqlite3_bind_int(s->stmts[DEL_TOKEN], 1, sequence);
    rm_store_write(s, DEL_TOKEN);
}

void rm_store_token_key(struct rm *rm, const struct rm_stored_key *k)
{
    struct rm_store *s = rm->store;
    sqlite3_stmt *q = s->stmts[PUT_TOKEN_KEY];

    if (!rm_store_begin(s))
        return;
    (void)sqlite3_bind_int(q, 1, k->key.key_id);
    (void)sqlite3_bind_blob(q, 2, k->key.bytes, (int)k->key.len, SQLITE_STATIC);
    (void)sqlite3_bind_int64(q, 3, k->made_ms);
    (void)sqlite3_bind_int64(q, 4, k->expires_ms);
    rm_store_write(s, PUT_TOKEN_KEY);
}

void rm_store_token_key_remove(struct rm *rm, int32_t key_id)
{
    struct rm_store *s = rm->store;

    if (!rm_store_begin(s))
        return;
    (void)sqlite3_bind_int(s->stmts[DEL_TOKEN_KEY], 1, key_id);
    rm_store_write(s, DEL_TOKEN_KEY);
}
