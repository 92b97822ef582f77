/* ApplicationMasterService: what other parts ask of it. */
#ifndef SELVEDGE_RM_LITE_AM_SERVICE_H
#define SELVEDGE_RM_LITE_AM_SERVICE_H

#include "rm-lite/rm.h"

extern const struct ipc_protocol *const rm_am_protocols[];
int rm_am_verify_token(const uint8_t *id, size_t id_len, uint8_t ret_password[64],
                       size_t *ret_password_len, char ret_user[256], const char **ret_class,
                       struct sv_error *err, void *userdata);
/* Answers a finishApplicationMaster that waits for the store, if there is one. */
void rm_am_finish_answer(struct rm_attempt *att);

#endif
