/* See state-store.h: functions that write records, one per kind. */
#include "nodemanager/store/state-store.h"

#include "nodemanager/store/state-store-open.h"
#include "nodemanager/store/state-store-statements.h"

int nm_store_app(struct nm_store *s, const char *app, const char *user, const char *view_acl,
                 const char *modify_acl)
{
    return nm_store_write(s, S_APP, "tttt", app, user, view_acl, modify_acl);
}
int nm_store_app_finished(struct nm_store *s, const char *app)
{
    return nm_store_write(s, S_APP_FINISHED, "t", app);
}
int nm_store_app_remove(struct nm_store *s, const char *app)
{
    int r = nm_store_write(s, S_DATA_REMOVE, "t", app);

    return r < 0 ? r : nm_store_write(s, S_APP_REMOVE, "t", app);
}
int nm_store_service_data(struct nm_store *s, const char *app, const char *service, const void *p,
                          size_t n)
{
    return nm_store_write(s, S_DATA, "ttb", app, service, p, n);
}
int nm_store_container(struct nm_store *s, const char *id, const char *app, const void *request,
                       size_t request_len, int64_t start_ms, int local_dir, int log_dir,
                       const char *assigned)
{
    return nm_store_write(s, S_CONT, "ttbiiit", id, app, request, request_len, start_ms,
                          (int64_t)local_dir, (int64_t)log_dir, assigned);
}
int nm_store_container_assigned(struct nm_store *s, const char *id, const char *assigned)
{
    return nm_store_write(s, S_CONT_ASSIGNED, "tt", id, assigned);
}
int nm_store_container_launched(struct nm_store *s, const char *id, int64_t launch_ms)
{
    return nm_store_write(s, S_CONT_LAUNCHED, "ti", id, launch_ms);
}
int nm_store_container_killed(struct nm_store *s, const char *id, int exit_code)
{
    return nm_store_write(s, S_CONT_KILLED, "ti", id, (int64_t)exit_code);
}
int nm_store_container_completed(struct nm_store *s, const char *id, int exit_code)
{
    return nm_store_write(s, S_CONT_COMPLETED, "ti", id, (int64_t)exit_code);
}
int nm_store_container_done(struct nm_store *s, const char *id, int exit_code, int64_t finish_ms,
                            const char *diagnostics)
{
    return nm_store_write(s, S_CONT_DONE, "tiit", id, (int64_t)exit_code, finish_ms, diagnostics);
}
int nm_store_container_updated(struct nm_store *s, const char *id, const void *token, size_t len)
{
    return nm_store_write(s, S_CONT_UPDATED, "tb", id, token, len);
}
int nm_store_container_again(struct nm_store *s, const char *id, const char *retry,
                             int64_t ended_ms)
{
    return nm_store_write(s, S_CONT_AGAIN, "tti", id, retry, ended_ms);
}
int nm_store_container_extend(struct nm_store *s, const char *id, const void *request, size_t len,
                              int64_t late)
{
    return nm_store_write(s, S_CONT_EXTEND, "tbi", id, request, len, late);
}
int nm_store_container_reinit(struct nm_store *s, const char *id, int reinit, const void *next,
                              size_t len)
{
    return nm_store_write(s, S_CONT_REINIT, "tib", id, (int64_t)reinit, next, len);
}
int nm_store_container_reinit_kills(struct nm_store *s, const char *id)
{
    return nm_store_write(s, S_CONT_REINIT_KILLS, "t", id);
}
int nm_store_container_replace(struct nm_store *s, const char *id, int reinit, int64_t ended_ms)
{
    static const enum nm_store_stmt stmts[] = { [NM_REINIT_UPGRADE] = S_CONT_UPGRADE,
                                                [NM_REINIT_COMMITTED] = S_CONT_UPGRADE_COMMITTED,
                                                [NM_REINIT_RESTART] = S_CONT_RESTART,
                                                [NM_REINIT_ROLLBACK] = S_CONT_ROLLBACK };

    return nm_store_write(s, stmts[reinit], "ti", id, ended_ms);
}
int nm_store_container_commit(struct nm_store *s, const char *id)
{
    return nm_store_write(s, S_CONT_COMMIT, "t", id);
}
int nm_store_container_remove(struct nm_store *s, const char *id)
{
    return nm_store_write(s, S_CONT_REMOVE, "t", id);
}
int nm_store_key(struct nm_store *s, const char *name, const struct yarn_master_key *key)
{
    return nm_store_write(s, S_KEY, "tib", name, (int64_t)key->key_id, key->bytes, key->len);
}
int nm_store_key_remove(struct nm_store *s, const char *name)
{
    return nm_store_write(s, S_KEY_REMOVE, "t", name);
}
int nm_store_used_token(struct nm_store *s, const char *container, int64_t expiry_ms)
{
    return nm_store_write(s, S_TOKEN, "ti", container, expiry_ms);
}
int nm_store_used_tokens_expire(struct nm_store *s, int64_t now_ms)
{
    return nm_store_write(s, S_TOKEN_EXPIRE, "i", now_ms);
}
int nm_store_deletion(struct nm_store *s, int64_t id, int64_t at_ms, const char *task)
{
    return nm_store_write(s, S_DEL, "iit", id, at_ms, task);
}
int nm_store_deletion_remove(struct nm_store *s, int64_t id)
{
    return nm_store_write(s, S_DEL_REMOVE, "i", id);
}
int nm_store_log_deleter(struct nm_store *s, const char *app, const char *user, int64_t at_ms)
{
    return nm_store_write(s, S_LOGDEL, "tti", app, user, at_ms);
}
int nm_store_log_deleter_remove(struct nm_store *s, const char *app)
{
    return nm_store_write(s, S_LOGDEL_REMOVE, "t", app);
}
int nm_store_log_upload(struct nm_store *s, const char *app, const char *account,
                        enum nm_stored_upload_state state, const void *value, size_t len)
{
    return nm_store_write(s, S_LOGUP, "ttib", app, account, (int64_t)state, value, len);
}
int nm_store_log_upload_remove(struct nm_store *s, const char *app)
{
    int r = nm_store_write(s, S_LOGUP_REMOVE, "t", app);

    return r < 0 ? r : nm_store_write(s, S_LOGSKIP_REMOVE, "t", app);
}
int nm_store_log_skip(struct nm_store *s, const char *app, const char *container)
{
    return nm_store_write(s, S_LOGSKIP, "tt", app, container);
}
int nm_store_resource(struct nm_store *s, const char *key, const void *value, size_t len)
{
    return nm_store_write(s, S_RES, "tb", key, value, len);
}
int nm_store_resource_remove(struct nm_store *s, const char *key)
{
    return nm_store_write(s, S_RES_REMOVE, "t", key);
}
int nm_store_setting(struct nm_store *s, const char *name, const char *value)
{
    return nm_store_write(s, S_SETTING, "tt", name, value);
}
int nm_store_setting_remove(struct nm_store *s, const char *name)
{
    return nm_store_write(s, S_SETTING_REMOVE, "t", name);
}
int nm_store_not_new(struct nm_store *s)
{
    return nm_store_setting_remove(s, NM_STORE_NEW);
}
int nm_store_mcs(struct nm_store *s, const char *name, const char *owner, int64_t pair)
{
    return nm_store_write(s, S_MCS, "tti", name, owner, pair);
}
int nm_store_mcs_remove(struct nm_store *s, const char *app)
{
    return nm_store_write(s, S_MCS_REMOVE, "t", app);
}
int nm_store_amrm(struct nm_store *s, const char *attempt, const char *name, const void *p,
                  size_t n)
{
    return nm_store_write(s, S_AMRM, "ttb", attempt, name, p, n);
}
int nm_store_amrm_remove(struct nm_store *s, const char *attempt, const char *name)
{
    return nm_store_write(s, S_AMRM_REMOVE, "tt", attempt, name);
}
int nm_store_amrm_remove_all(struct nm_store *s, const char *attempt)
{
    return nm_store_write(s, S_AMRM_REMOVE_ALL, "t", attempt);
}
