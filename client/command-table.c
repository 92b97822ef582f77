/* The table of subcommands and their options, see commands.h. */
#include <stddef.h>

#include "client/commands.h"
#include "client/localize.h"
#include "client/run.h"

static const struct cli_opt run_options[] = {
    { 'n', "instances", "N", "containers (1)", 0 },
    { 'm', "memory", "SIZE", "of each, such as 256m or 2g (256m)", 0 },
    { 'c', "vcores", "N", "of each (1)", 0 },
    { 'a', "archive", "PATH[#NAME]", "unpacked into the work directory as NAME; repeat for more",
      CLI_NAMES_FILE },
    { 'f', "file", "PATH[#NAME]", "put into the work directory as NAME; repeat for more",
      CLI_NAMES_FILE },
    { 'e', "env", "NAME=VALUE", "in each container; repeat for more", 0 },
    { 'N', "name", "NAME", "of the job (the command's)", 0 },
    { 'q', "queue", "QUEUE", "(default)", CLI_NAMES_QUEUE },
    { RUN_OPT_TRIES, "tries", "N", "maximum starts of an instance whose node is lost (3)", 0 },
    { RUN_OPT_AM_MEMORY, "am-memory", "SIZE", "of the ApplicationMaster's container (128m)", 0 },
    { RUN_OPT_AM, "am-program", "PATH", "the ApplicationMaster", CLI_NAMES_FILE },
    { RUN_OPT_NO_OUTPUT, "no-output", NULL, "do not show the containers' output", 0 },
    { 'd', "detach", NULL, "print the application's id and leave the job to itself", 0 },
    { 0 },
};

static const struct cli_opt all_apps[] = { { 'a', "all", NULL, "ended ones too", 0 }, { 0 } };
static const struct cli_opt all_nodes[] = {
    { 'a', "all", NULL, "also those that are not running", 0 },
    { 0 },
};
static const struct cli_opt logs_options[] = {
    { 'l', "log", "NAME", "this file instead of stdout and stderr", 0 },
    { 0 },
};
static const struct cli_opt doctor_options[] = {
    { 'u', "user", "NAME", "the NodeManager's account (yarn)", 0 },
    { 0 },
};
static const struct cli_opt localize_options[] = {
    { LOCALIZE_OPT_AS, "as", "USER", "who submits the job that names the resources", 0 },
    { 'v', "visibility", "VISIBILITY", "public, private or application", 0 },
    { 'a', "archive", NULL, "unpack them", 0 },
    { 'p', "pattern", "REGEX", "unpack what matches, as YARN's type PATTERN", 0 },
    { LOCALIZE_OPT_TIMESTAMP, "timestamp", "MS", "the modification time; else any is taken", 0 },
    { LOCALIZE_OPT_SIZE, "size", "BYTES", "the size; else any is taken", 0 },
    { LOCALIZE_OPT_TOKENS, "tokens", "FILE", "the job's credentials", CLI_NAMES_FILE },
    { 'u', "user", "NAME", "the NodeManager's account (yarn)", 0 },
    { 0 },
};

const struct cli_command cli_commands[] = {
    { "run", cli_cmd_run, "run [OPTIONS] -- COMMAND [ARGUMENT]...",
      "run a command in containers and wait for it",
      "One COMMAND without arguments is a line for bash; with arguments it is a program and\n"
      "exactly those arguments. Each container has SELVEDGE_INSTANCE (0...) and\n"
      "SELVEDGE_INSTANCES. Output lines begin with [instance] when there are several. The exit\n"
      "code is 0 when all containers ended with 0, else that of the first one in the table that\n"
      "did not (1 for codes below 0, which are YARN's own).\n",
      run_options, CLI_NAMES_FILE, .strict_order = true },
    { "ps", cli_cmd_ps, "ps [-a] [APPLICATION]", "list applications, or one's containers", "",
      all_apps, CLI_NAMES_APP_ENDED },
    { "logs", cli_cmd_logs, "logs [--log NAME] APPLICATION [CONTAINER]",
      "show the output of containers", "CONTAINER is a container's id or an instance's number.\n",
      logs_options, CLI_NAMES_APP_ENDED },
    { "wait", cli_cmd_wait, "wait APPLICATION", "wait until an application has ended",
      "The exit code is the job's own for `selvedge run`, else 0 when it succeeded, or 1.\n", NULL,
      CLI_NAMES_APP },
    { "kill", cli_cmd_kill, "kill APPLICATION...", "end applications", "", NULL, CLI_NAMES_APP },
    { "app list", cli_cmd_ps, "app list [-a]", "list applications: the same as ps", "", all_apps,
      CLI_NAMES_NONE },
    { "app status", cli_cmd_app_status, "app status APPLICATION", "describe an application", "",
      NULL, CLI_NAMES_APP_ENDED },
    { "app kill", cli_cmd_kill, "app kill APPLICATION...", "the same as kill", "", NULL,
      CLI_NAMES_APP },
    { "node list", cli_cmd_node_list, "node list [-a]", "list the nodes", "", all_nodes,
      CLI_NAMES_NONE },
    { "queue list", cli_cmd_queue_list, "queue list", "list the queues",
      "USED is a share of the queue's own capacity: above 100% it borrows.\n", NULL,
      CLI_NAMES_NONE },
    { "queue status", cli_cmd_queue_status, "queue status QUEUE", "describe a queue",
      "USED is a share of the queue's own capacity: above 100% it borrows.\n", NULL,
      CLI_NAMES_QUEUE },
    { "localize", cli_cmd_localize, "localize [OPTIONS] --as USER --visibility VISIBILITY URL...",
      "fetch resources by hand as this node does for a container",
      "Run it as root or as the NodeManager's account, on a node whose NodeManager runs: that has\n"
      "the cgroup of localizers. What arrives is deleted again; the NodeManager's cache is not\n"
      "touched. The exit code is 0 when all arrived, 1 when one was refused, with the reason in a\n"
      "line, 2 when the usage was wrong.\n",
      localize_options, CLI_NAMES_NONE },
    { "doctor", cli_cmd_doctor, "doctor [--user NAME]",
      "check which limits and protections this node can enforce",
      "Changes nothing; needs no ResourceManager. As root or as the NodeManager's account it\n"
      "also queries container-executor. The exit code is 0 when all is in order, 1 when\n"
      "containers run with less protection than possible, 2 when they do not run or a guarantee\n"
      "is broken.\n",
      doctor_options, CLI_NAMES_NONE },
    { 0 },
};
