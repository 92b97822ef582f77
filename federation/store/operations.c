/* Fields that each operation reads, and its kind of answer: a row an operation. */
#include "federation/store/store-backend.h"

#define REPEAT .repeatable = true
#define ANSWER REPEAT, .has_records = true
#define READ ANSWER, .reads = true
#define LIST READ, .list = true

/* clang-format off */
const struct fed_operation fed_operations[FED_OPS] = {
    [FED_MEMBER_REGISTER]   = { "register member", FED_MEMBER, FED_F_ID | FED_F_ADDRESSES | FED_F_STATE | FED_F_START, ANSWER },
    [FED_MEMBER_DEREGISTER] = { "deregister member", FED_MEMBER, FED_F_ID | FED_F_FINAL, REPEAT },
    [FED_MEMBER_HEARTBEAT]  = { "heartbeat of member", FED_MEMBER, FED_F_ID | FED_F_STATE | FED_F_CAPABILITY, REPEAT },
    [FED_MEMBER_GET]        = { "get member", FED_MEMBER, FED_F_ID, READ },
    [FED_MEMBER_LIST]       = { "list members", FED_MEMBER, 0, LIST },
    [FED_HOME_ADD]          = { "add home of", FED_HOME, FED_F_ID | FED_F_HOME | FED_F_VALUE, ANSWER },
    [FED_HOME_UPDATE]       = { "update home of", FED_HOME, FED_F_ID | FED_F_HOME | FED_F_VALUE, REPEAT },
    [FED_HOME_GET]          = { "get home of", FED_HOME, FED_F_ID, READ },
    [FED_HOME_LIST]         = { "list homes", FED_HOME, FED_F_SOME_HOME, LIST },
    [FED_HOME_DELETE]       = { "delete home of", FED_HOME, FED_F_ID },
    [FED_RESERVATION_ADD]   = { "add home of", FED_RESERVATION, FED_F_ID | FED_F_HOME, ANSWER },
    [FED_RESERVATION_UPDATE] = { "update home of", FED_RESERVATION, FED_F_ID | FED_F_HOME, REPEAT },
    [FED_RESERVATION_GET]   = { "get home of", FED_RESERVATION, FED_F_ID, READ },
    [FED_RESERVATION_LIST]  = { "list reservations", FED_RESERVATION, 0, LIST },
    [FED_RESERVATION_DELETE] = { "delete home of", FED_RESERVATION, FED_F_ID },
    [FED_POLICY_SET]        = { "set policy of queue", FED_POLICY, FED_F_ID | FED_F_VALUE, REPEAT },
    [FED_POLICY_GET]        = { "get policy of queue", FED_POLICY, FED_F_ID, READ },
    [FED_POLICY_LIST]       = { "list policies", FED_POLICY, 0, LIST },
    [FED_POLICY_DELETE]     = { "delete policy of queue", FED_POLICY, FED_F_ID },
    [FED_KEY_ADD]           = { "add the Router's key", FED_KEY, FED_F_ID | FED_F_VALUE },
    [FED_KEY_GET]           = { "get the Router's key", FED_KEY, FED_F_ID, READ },
    [FED_KEY_DELETE]        = { "delete the Router's key", FED_KEY, FED_F_ID },
    [FED_TOKEN_ADD]         = { "add the Router's token", FED_TOKEN, FED_F_ID | FED_F_VALUE },
    [FED_TOKEN_UPDATE]      = { "update the Router's token", FED_TOKEN, FED_F_ID | FED_F_VALUE, REPEAT },
    [FED_TOKEN_GET]         = { "get the Router's token", FED_TOKEN, FED_F_ID, READ },
    [FED_TOKEN_LIST]        = { "list the Router's tokens up to", FED_TOKEN, FED_F_ID, LIST },
    [FED_TOKEN_DELETE]      = { "delete the Router's token", FED_TOKEN, FED_F_ID },
    [FED_SEQUENCE_GET]      = { "get the Router's counter", FED_SEQUENCE, FED_F_ID, ANSWER },
    /* A number that is lost with its answer is not needed. */
    [FED_SEQUENCE_NEXT]     = { "increment the Router's counter", FED_SEQUENCE, FED_F_ID, ANSWER },
    [FED_SEQUENCE_SET]      = { "set the Router's counter", FED_SEQUENCE, FED_F_ID | FED_F_VALUE, REPEAT },
    [FED_VERSION_CHECK]     = { "check the layout", FED_VERSION, 0, ANSWER },
    [FED_VERSION_GET]       = { "get the layout's version", FED_VERSION, 0, READ },
};
/* clang-format on */

const char *fed_op_name(enum fed_op op)
{
    return op >= 0 && op < FED_OPS ? fed_operations[op].name : "unknown operation";
}
