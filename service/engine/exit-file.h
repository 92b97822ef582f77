/* Exit codes of tasks from a file, found by code: exit-table.c alone asks. */
#ifndef SELVEDGE_SERVICE_ENGINE_EXIT_FILE_H
#define SELVEDGE_SERVICE_ENGINE_EXIT_FILE_H

#include "service/engine/exit-table.h"

#define SVC_FW_TASK_CODE_MAX 255

/* NULL: the file does not have it. */
const struct svc_fw_exit *svc_fw_exits_find(const struct svc_fw_exits *x, int32_t code);

#endif
