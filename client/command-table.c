/* See commands.h: the table of subcommands and their options. */
#include <stddef.h>

#include "client/commands/app-filter.h"
#include "client/commands/history-options.h"
#include "client/core/commands.h"
#include "client/federation/federation.h"
#include "client/framework/framework.h"
#include "client/local/local.h"
#include "client/localize/localize.h"
#include "client/logs/logs.h"
#include "client/run/run.h"
#include "client/service/service.h"

static const struct cli_opt run_options[] = {
    { 'n', "instances", "N", "containers (1)", 0 },
    { 'm', "memory", "SIZE", "of each, such as 256m or 2g (256m)", 0 },
    { 'c', "vcores", "N", "of each (1)", 0 },
    { 'a', "archive", "PATH[#NAME]", "unpacked into the work directory as NAME; repeat for more",
      CLI_NAMES_FILE | CLI_MANY },
    { 'f', "file", "PATH[#NAME]", "put into the work directory as NAME; repeat for more",
      CLI_NAMES_FILE | CLI_MANY },
    { RUN_OPT_LOCAL_DIR, "local-dir", "DIR[#NAME]",
      "put into the work directory as NAME, with everything below it",
      CLI_NAMES_DIRECTORY | CLI_MANY },
    { RUN_OPT_GPUS, "gpus", "N", "of each (0)", 0 },
    { 'e', "env", "NAME=VALUE", "in each container; repeat for more", CLI_MANY | CLI_TEXT_ANY },
    { 'N', "name", "NAME", "of the job (the command's)", 0 },
    { 'q', "queue", "QUEUE", "(default)", CLI_NAMES_QUEUE },
    { RUN_OPT_TRIES, "tries", "N", "maximum starts of an instance whose node is lost (3)", 0 },
    { RUN_OPT_RESTART, "restart", "N", "restarts of a failed instance (0)", 0 },
    { RUN_OPT_TIMEOUT, "timeout", "TIME", "the ResourceManager kills the job after this time", 0 },
    { RUN_OPT_ROLLED_LOGS, "rolled-logs", "PATTERN",
      "logs that are uploaded while the job runs, as in '\\.[0-9]+$'", 0 },
    { RUN_OPT_USER, "user", "USER", "the job's user; root alone may name another", 0 },
    { RUN_OPT_VIEW_ACL, "view-acl", "USERS[ GROUPS]",
      "others who may view the job, as in 'ann,bob staff' (nobody)", 0 },
    { RUN_OPT_MODIFY_ACL, "modify-acl", "USERS[ GROUPS]",
      "others who may end or change it (nobody)", 0 },
    { RUN_OPT_AM_MEMORY, "am-memory", "SIZE", "of the ApplicationMaster's container (128m)", 0 },
    { RUN_OPT_AM, "am-program", "PATH", "the ApplicationMaster", CLI_NAMES_FILE },
    { RUN_OPT_NO_OUTPUT, "no-output", NULL, "do not show the containers' output", 0 },
    { 'F', "job-file", "FILE",
      "groups of containers from a YAML file (docs/job-file.md); - is stdin", CLI_NAMES_FILE },
    { RUN_OPT_RERUN, "rerun", "APPLICATION", "only the instances that failed there", 0 },
    { 'd', "detach", NULL, "print the application's id and do not wait", 0 },
    { 0 },
};

#define LOCAL_OPTION(text)                                                                         \
    {                                                                                              \
        CLI_OPT_LOCAL, "local", NULL, text, 0                                                      \
    }
#define APP_FILTER_OPTIONS                                                                         \
    { 'a', "all", NULL, "also those that have ended", 0 },                                         \
        { 'w', "watch", NULL, "on a terminal: draw the list anew every two seconds until q", 0 },  \
        { 'u', "user", "USERS", "those of these users, as in ann,bob", 0 },                        \
        { 'q', "queue", "QUEUES", "those in these queues", CLI_NAMES_QUEUE },                      \
        { 's', "state", "STATES", "those in these states, as in FAILED,KILLED", 0 },               \
        { 't', "type", "TYPES", "those of these types, as in SPARK", 0 },                          \
    {                                                                                              \
        APP_FILTER_TAG, "tag", "TAGS", "those with one of these tags", 0                           \
    }
static const struct cli_opt ps_options[] = {
    APP_FILTER_OPTIONS,
    LOCAL_OPTION("the containers of this node, from its NodeManager over D-Bus"),
    { 0 },
};
static const struct cli_opt history_options[] = {
    { HISTORY_OPT_SINCE, "since", "TIME", "those that ended since then: 7d, or 2026-01-31", 0 },
    { HISTORY_OPT_UNTIL, "until", "TIME", "those that ended until then", 0 },
    { 'u', "user", "USERS", "those of these users, as in ann,bob", 0 },
    { 'q', "queue", "QUEUES", "those in these queues", CLI_NAMES_QUEUE },
    { 's', "state", "STATES", "those that ended so, as in FAILED,KILLED", 0 },
    { 't', "type", "TYPES", "those of these types, as in SPARK", 0 },
    { 'N', "name", "NAME", "those of this name", 0 },
    { 'n', "limit", "N", "the latest N (100); 0: all", 0 },
    { HISTORY_OPT_BY, "by", "user|queue", "their usage in all, of each user or queue", 0 },
    { 0 },
};
static const struct cli_opt local_options[] = {
    LOCAL_OPTION("from the NodeManager of this machine over D-Bus"),
    { 0 },
};
static const struct cli_opt top_options[] = {
    LOCAL_OPTION("from the NodeManager of this machine over D-Bus"),
    { 'c', "containers", NULL, "of all applications", 0 },
    { 's', "sort", "KEY", "cpu or memory (cpu)", 0 },
    { CLI_OPT_ONCE, "once", NULL, "print once, also on a terminal", 0 },
    { 0 },
};
static const struct cli_opt drain_options[] = {
    { 'r', "reason", "TEXT", "shown in the ResourceManager's list of nodes (your name)", 0 },
    { CLI_OPT_WAIT_EMPTY, "wait", "[=TIME]", "until the node has no containers", 0 },
    { 0 },
};
static const struct cli_opt all_apps[] = { APP_FILTER_OPTIONS, { 0 } };
static const struct cli_opt all_nodes[] = {
    { 'a', "all", NULL, "also those that are not running", 0 },
    { 0 },
};
static const struct cli_opt logs_options[] = {
    { 'l', "log", "NAME", "this file instead of stdout and stderr", 0 },
    { 'a', "all", NULL, "all files", 0 },
    { 'f', "follow", NULL, "while the application runs, print its logs as they grow", 0 },
    { 'n', "tail", "LINES", "the last lines of each file only", 0 },
    { 's', "since", "TIME", "only files that have changed in the last TIME, such as 10m", 0 },
    { CLI_OPT_OWNER, "owner", "USER", "the job's user, if the ResourceManager has forgotten it",
      0 },
    { 0 },
};
static const struct cli_opt doctor_options[] = {
    { 'u', "user", "NAME", "the NodeManager's account (yarn)", 0 },
    { 'p', "principal", "NAME", "whose account is this one's? Repeat for more", CLI_MANY },
    { 0 },
};
static const struct cli_opt localize_options[] = {
    { LOCALIZE_OPT_AS, "as", "USER", "the submitter of the job that needs the resources", 0 },
    { 'v', "visibility", "VISIBILITY", "public, private or application", 0 },
    { 'a', "archive", NULL, "unpack them", 0 },
    { 'p', "pattern", "REGEX", "unpack matching entries, as YARN's type PATTERN", 0 },
    { LOCALIZE_OPT_TIMESTAMP, "timestamp", "MS", "the expected modification time (any)", 0 },
    { LOCALIZE_OPT_SIZE, "size", "BYTES", "the expected size (any)", 0 },
    { LOCALIZE_OPT_TOKENS, "tokens", "FILE", "the job's credentials", CLI_NAMES_FILE },
    { 'u', "user", "NAME", "the NodeManager's account (yarn)", 0 },
    { 0 },
};

static const struct cli_opt config_options[] = {
    { 'a', "all", NULL, "also the keys that are not set", 0 },
    { 'u', "unknown", NULL, "unknown keys, with the nearest name", 0 },
    { 0 },
};
static const struct cli_opt stop_options[] = {
    { 't', "timeout", "TIME", "before it is killed (30s)", 0 },
    { 0 },
};
static const struct cli_opt decommission_options[] = {
    { 'g', "graceful", NULL, "let their containers end first", 0 },
    { 't', "timeout", "TIME", "with --graceful: wait at most this long (the cluster's)", 0 },
    { 'r', "refresh", NULL, "the list is already edited: only reload it", 0 },
    { 0 },
};
static const struct cli_opt recommission_options[] = {
    { 'r', "refresh", NULL, "the list is already edited: only reload it", 0 },
    { 0 },
};

static const struct cli_opt federation_apps_options[] = {
    { 'n', "number", "N", "the latest N (1000)", 0 },
    { 0 },
};
static const struct cli_opt deregister_options[] = {
    { 's', "state", "STATE", "SC_DECOMMISSIONED (the default), SC_LOST or SC_UNREGISTERED", 0 },
    { 0 },
};
static const struct cli_opt schema_options[] = {
    { FEDERATION_OPT_APPLY, "apply", NULL,
      "make them in the database of yarn.federation.state-store.sql.url", 0 },
    { 0 },
};

#define SERVICE_WAIT(text)                                                                         \
    {                                                                                              \
        CLI_OPT_WAIT_EMPTY, "wait", "[=TIME]", text, 0                                             \
    }
#define SERVICE_HADOOP                                                                             \
    {                                                                                              \
        SERVICE_OPT_HADOOP, "hadoop", NULL, "ignore names that are not known, as Hadoop does", 0   \
    }
static const struct cli_opt service_launch_options[] = {
    { 'N', "name", "NAME", "of the service (the file's)", 0 },
    SERVICE_HADOOP,
    SERVICE_WAIT("until all its instances are ready"),
    { 0 },
};
static const struct cli_opt service_save_options[] = {
    { 'N', "name", "NAME", "of the service (the file's)", 0 },
    SERVICE_HADOOP,
    { 0 },
};
static const struct cli_opt service_start_options[] = {
    SERVICE_WAIT("until all its instances are ready"),
    { 0 },
};
static const struct cli_opt service_stop_options[] = {
    SERVICE_WAIT("until its application has ended"),
    { 0 },
};
static const struct cli_opt service_instances_options[] = {
    { SERVICE_OPT_VERSION, "version", "VERSION", "those of this version of the service", 0 },
    { SERVICE_OPT_STATES, "states", "STATES", "those in these states, as in READY,UPGRADING", 0 },
    { SERVICE_OPT_COMPONENT, "component", "NAMES", "those of these components, as in web,db", 0 },
    { 0 },
};
static const struct cli_opt service_upgrade_options[] = {
    { SERVICE_OPT_EXPRESS, "express", NULL, "upgrade all instances now, and finalize", 0 },
    { SERVICE_OPT_AUTO_FINALIZE, "auto-finalize", NULL,
      "finalize when the last instance is upgraded", 0 },
    { SERVICE_OPT_INSTANCES, "instances", "NAMES", "upgrade these, as in web-0,web-1", 0 },
    { SERVICE_OPT_COMPONENTS, "components", "NAMES", "upgrade all instances of these", 0 },
    { SERVICE_OPT_FINALIZE, "finalize", NULL, "end it: the new definition is the service's", 0 },
    { SERVICE_OPT_CANCEL, "cancel", NULL, "end it: all instances go back", 0 },
    SERVICE_HADOOP,
    SERVICE_WAIT("until none of them is being upgraded"),
    { 0 },
};
static const struct cli_opt exec_options[] = {
    { 'i', "interactive", NULL, "pass this command's input on", 0 },
    { 't', "tty", NULL, "with a terminal of its own; stdin must be one, and is passed on", 0 },
    LOCAL_OPTION("by the NodeManager of this machine over D-Bus, for the owner and root"),
    { 0 },
};
static const struct cli_opt service_import_options[] = {
    { 'N', "name", "NAME", "of the service (application.name of INTERNAL)", 0 },
    { 0 },
};

static const struct cli_opt framework_submit_options[] = {
    { FRAMEWORK_OPT_EXPLAIN, "explain", NULL,
      "print what will be asked of which node, and submit nothing", 0 },
    SERVICE_WAIT("until it has ended"),
    { 0 },
};
static const struct cli_opt framework_list_options[] = {
    { 'u', "user", "USER", "those of this user", 0 },
    { 0 },
};
static const struct cli_opt framework_tasks_options[] = {
    { FRAMEWORK_OPT_ROLE, "role", "ROLE", "those of this task role", 0 },
    { FRAMEWORK_OPT_STATES, "states", "STATES", "those in these states, as in RUNNING,FAILED", 0 },
    { 0 },
};
static const struct cli_opt framework_stop_options[] = {
    SERVICE_WAIT("until it has ended"),
    { 0 },
};

#define FRAMEWORK_EXITS                                                                            \
    "0, 1 when selvedge-services refused it or the framework failed, 2 for wrong usage and a\n"    \
    "wrong descriptor.\n"
#define SERVICE_EXITS                                                                              \
    "0, 1 when the services API refused it or --wait ended early, 2 for wrong usage and a wrong\n" \
    "definition.\n"
#define AN_APP "application_1700000000123_0042" /* in the examples */
const struct cli_command cli_commands[] = {
    { "run", cli_cmd_run, "run [OPTIONS] -- COMMAND [ARGUMENT]... | -F FILE",
      "run a command in containers and wait for it",
      "One COMMAND without arguments is a line for bash; with arguments it is a program and\n"
      "exactly those arguments. Each container has SELVEDGE_INSTANCE (0...) and\n"
      "SELVEDGE_INSTANCES. Output lines begin with [instance] when there are several.\n",
      run_options, CLI_NAMES_FILE, .strict_order = true,
      .exits =
          "0 when all containers ended with 0, else that of the first one in the table that\n"
          "did not (1 for codes below 0, which are YARN's own); 128 + the signal that ended it.\n",
      .example = "selvedge run -n 2 -- 'hostname; id'" },
    { "submit", cli_cmd_submit, "submit [OPTIONS] -- COMMAND [ARGUMENT]... | -F FILE",
      "start a job and print the application's id",
      "Like run --detach; prints the commands to continue with on stderr, unless --quiet.\n",
      run_options, CLI_NAMES_FILE, .strict_order = true,
      .example = "selvedge submit -n 2 -- 'sleep 60; date'" },
    { "ps", cli_cmd_ps, "ps [-a] [-w] [FILTER]... [APPLICATION | --local]",
      "list applications, or the containers of one",
      "APPLICATION is an id or its beginning, the number at its end, a name, @last (your latest),\n"
      "or the id of one of its containers or attempts; so in every command.\n",
      ps_options, CLI_NAMES_APP_ENDED, .local = cli_local_ps,
      .example = "selvedge ps --all -o id,name,state" },
    { "history", cli_cmd_history,
      "history [--since TIME] [--until TIME] [FILTER]... [--by user|queue]",
      "list applications that have ended, and what they used",
      "Of as many and as far back as the ResourceManager keeps them\n"
      "(selvedge.rm.history.max-applications, selvedge.rm.history.max-age-ms). TIME is a time "
      "ago,\n"
      "as in 12h or 7d, a date or 2026-01-31T12:00; with a Z, or with --utc, it is UTC's, else\n"
      "local time. Core-hours are vcores by hours, whether or not they were busy, GiB-hours\n"
      "likewise; where yarn.acl.enable hides an application's usage from you, it is not summed.\n",
      history_options, CLI_NAMES_NONE, .example = "selvedge history --since 30d --by user -o csv" },
    { "top", cli_cmd_top, "top [-c | APPLICATION | --local] [--sort KEY] [--once]",
      "show the resource usage of applications or containers",
      "On a terminal the list is refreshed every two seconds until q; c and m change its order.\n"
      "Arrows move the cursor: Enter shows the containers of an application (Escape: back), or\n"
      "inspects a container; l shows its logs, i inspects it, k kills it after a question.\n"
      "Elsewhere, and with --once, it is printed once. ALLOCATED and LIMIT are granted amounts,\n"
      "CPU and MEMORY used ones. WAIT is the share of the last ten seconds in which some\n"
      "process waited for a processor, for memory or for a disk. Usage comes from the nodes, "
      "which\n"
      "show it to those who may see the application; Apache's NodeManagers have none.\n",
      top_options, CLI_NAMES_APP, .local = cli_local_top,
      .example = "selvedge top --containers --once --sort memory" },
    { "inspect", cli_cmd_inspect, "inspect APPLICATION|CONTAINER|NODE|QUEUE | --local CONTAINER",
      "show everything known about one object, as JSON",
      "Merged from answers of the ResourceManager and the nodes. A name is that of a node or a\n"
      "queue, else of an application. Missing parts are listed under \"unavailable\".\n"
      "--local asks only the NodeManager of this machine.\n",
      local_options, CLI_NAMES_APP_ENDED, .local = cli_local_inspect,
      .example = "selvedge inspect root.default" },
    { "logs", cli_cmd_logs, "logs [OPTIONS] APPLICATION [CONTAINER]",
      "show the output of containers",
      "CONTAINER is a container's id or an instance's number. Logs that the nodes have deleted\n"
      "are read from the remote log directory (yarn.log-aggregation-enable).\n",
      logs_options, CLI_NAMES_APP_ENDED, .then = CLI_NAMES_CONTAINER,
      .example = "selvedge logs --since 1h " AN_APP },
    { "attach", cli_cmd_attach, "attach APPLICATION", "follow the output of an application",
      "Ends with the application; Ctrl-C detaches and leaves it running.\n", NULL, CLI_NAMES_APP,
      .exits = "the job's own, as for wait; 130 after Ctrl-C.\n",
      .example = "selvedge attach " AN_APP },
    { "exec", cli_cmd_exec, "exec [-i] [-t] CONTAINER|APPLICATION [--] COMMAND [ARGUMENT]...",
      "run a program in a running container",
      "With the container's confinement, as its user, in its working directory; not with the\n"
      "variables that its launch script sets. Of an application its only running container. For\n"
      "its owner, and administrators that yarn.admin.acl names, on nodes with\n"
      "selvedge.nodemanager.exec.enabled. With -t what the program writes reaches the terminal as\n"
      "it is; without, control characters are shown as \\x1b. The program ends with this "
      "command.\n",
      exec_options, CLI_NAMES_APP, .strict_order = true, .local = cli_local_exec,
      .exits = "the program's own, 128 + the signal that ended it; 127 and 126 when it is not\n"
               "there or no program; 255 when there is no session.\n",
      .example = "selvedge exec -i -t container_1700000000123_0042_01_000002 -- bash" },
    { "wait", cli_cmd_wait, "wait APPLICATION", "wait until an application has ended", "", NULL,
      CLI_NAMES_APP, .exits = "the job's own for `selvedge run`, else 0 when it succeeded, or 1.\n",
      .example = "selvedge wait " AN_APP },
    { "stop", cli_cmd_stop, "stop [--timeout TIME] APPLICATION|CONTAINER",
      "ask an application to end, then kill it",
      "SIGTERM goes to the instances of `selvedge run`, else to the ApplicationMaster; of a\n"
      "container to that container alone.\n",
      stop_options, CLI_NAMES_APP, .exits = "0, or 1 when it had to be killed.\n",
      .example = "selvedge stop --timeout 2m " AN_APP },
    { "kill", cli_cmd_kill, "kill APPLICATION|CONTAINER...", "end applications",
      "Of a container's id that container alone is killed.\n", NULL, CLI_NAMES_APP,
      .example = "selvedge kill " AN_APP },
    { "app list", cli_cmd_ps, "app list [-a] [-w] [FILTER]...", "list applications (like ps)", "",
      all_apps, CLI_NAMES_NONE },
    { "app status", cli_cmd_app_status, "app status APPLICATION", "describe an application", "",
      NULL, CLI_NAMES_APP_ENDED, .example = "selvedge app status " AN_APP },
    { "app kill", cli_cmd_kill, "app kill APPLICATION|CONTAINER...", "end applications (like kill)",
      "", NULL, CLI_NAMES_APP },
    { "app attempts", cli_cmd_app_attempts, "app attempts APPLICATION",
      "list the attempts of an application", "", NULL, CLI_NAMES_APP_ENDED,
      .example = "selvedge app attempts " AN_APP },
    { "app move", cli_cmd_app_move, "app move APPLICATION QUEUE", "move an application to a queue",
      "", NULL, CLI_NAMES_APP, .then = CLI_NAMES_QUEUE,
      .example = "selvedge app move " AN_APP " root.default" },
    { "app priority", cli_cmd_app_priority, "app priority APPLICATION N",
      "give an application a priority within its queue", "", NULL, CLI_NAMES_APP,
      .example = "selvedge app priority " AN_APP " 3" },
    { "node list", cli_cmd_node_list, "node list [-a]", "list the nodes", "", all_nodes,
      CLI_NAMES_NONE, .example = "selvedge node list --all" },
    { "node status", cli_cmd_node_status, "node status NODE | --local", "describe a node", "",
      local_options, CLI_NAMES_NODE, .local = cli_local_node,
      .example = "selvedge node status --local" },
    { "node drain", cli_local_node, "node drain [--reason TEXT] [--wait[=TIME]]", "drain this node",
      "For root and the group selvedge-admin. A drained node reports itself unhealthy until\n"
      "undrain, also after restarts: it gets no new containers, and the ResourceManager ends "
      "those\n"
      "that run.\n",
      drain_options, CLI_NAMES_NONE,
      .example = "selvedge node drain --reason 'new disk' --wait=10m" },
    { "node undrain", cli_local_node, "node undrain", "end the drain of this node", "", NULL,
      CLI_NAMES_NONE, .example = "selvedge node undrain" },
    { "node decommission", cli_cmd_node_decommission,
      "node decommission [--graceful [--timeout TIME]] [--refresh] HOST...",
      "take nodes out of the cluster",
      "Excluded hosts are lines of the file yarn.resourcemanager.nodes.exclude-path on the\n"
      "ResourceManager's machine. It is edited if it is here and the caller may write it; else\n"
      "the required line is printed, and nothing is changed.\n",
      decommission_options, CLI_NAMES_NODE,
      .example = "selvedge node decommission --graceful --timeout 10m node.example" },
    { "node recommission", cli_cmd_node_recommission, "node recommission [--refresh] HOST...",
      "take nodes back into the cluster", "", recommission_options, CLI_NAMES_NODE,
      .example = "selvedge node recommission node.example" },
    { "queue list", cli_cmd_queue_list, "queue list", "list the queues",
      "USED is a share of the queue's own capacity: above 100% it borrows.\n", NULL, CLI_NAMES_NONE,
      .example = "selvedge queue list" },
    { "queue status", cli_cmd_queue_status, "queue status QUEUE", "describe a queue",
      "USED is a share of the queue's own capacity: above 100% it borrows.\n", NULL,
      CLI_NAMES_QUEUE, .example = "selvedge queue status root.default" },
    { "queue refresh", cli_cmd_queue_refresh, "queue refresh",
      "make the ResourceManager reload its queues", "For the cluster's administrators only.\n",
      NULL, CLI_NAMES_NONE, .example = "selvedge queue refresh" },
    { "federation members", cli_cmd_federation_members, "federation members",
      "list the members of the federation",
      "From the state store of yarn.federation.state-store.class, as are all commands of\n"
      "federation: for those who may read its account in the configuration. NODES and AVAILABLE\n"
      "are as of the last heartbeat.\n",
      NULL, CLI_NAMES_NONE, .example = "selvedge federation members" },
    { "federation apps", cli_cmd_federation_apps, "federation apps [--number N] [MEMBER]",
      "list where applications have their masters", "The latest first.\n", federation_apps_options,
      CLI_NAMES_NONE, .example = "selvedge federation apps --number 20 SC-1" },
    { "federation policy", cli_cmd_federation_policy,
      "federation policy get [QUEUE] | set QUEUE POLICY [PARAMETERS] | delete QUEUE",
      "show or change where applications and containers go",
      "QUEUE * is the one of all queues without a policy of their own. POLICY is a policy manager\n"
      "of Hadoop's, as a class or in short: UniformBroadcast, HashBroadcast, PriorityBroadcast,\n"
      "WeightedLocality, Home, WeightedHome, RejectAll. PARAMETERS are its weights as JSON:\n"
      "{\"routerPolicyWeights\":{\"entry\":[{\"key\":{\"id\":\"SC-1\"},\"value\":\"1.0\"}]},...}.\n"
      "Routers and NodeManagers use a change within yarn.federation.cache-ttl.secs.\n",
      NULL, CLI_NAMES_NONE, .example = "selvedge federation policy set '*' UniformBroadcast" },
    { "federation deregister", cli_cmd_federation_deregister,
      "federation deregister [--state STATE] MEMBER", "take a member out of the federation",
      "For a cluster that is gone: a ResourceManager that ends by itself deregisters, and one "
      "that\n"
      "runs comes back with its next heartbeat.\n",
      deregister_options, CLI_NAMES_NONE, .example = "selvedge federation deregister SC-2" },
    { "federation schema", cli_cmd_federation_schema, "federation schema [--apply]",
      "print the tables and procedures of the state store in SQL",
      "For MariaDB and MySQL, with the procedures that Apache's daemons call; for the program\n"
      "mysql. Tables that exist are kept, procedures are replaced.\n",
      schema_options, CLI_NAMES_NONE, .example = "selvedge federation schema" },
    { "service launch", cli_cmd_service_launch,
      "service launch [--name NAME] [--hadoop] [--wait[=TIME]] FILE",
      "launch a long-running service and print its application's id",
      "FILE is its definition, docs/service-definition.md; - is the standard input. It is checked\n"
      "here first. These commands talk to the services API at the ResourceManager's web address\n"
      "with yarn.webapp.api-service.enable, else at yarn.service.api-server.address.\n",
      service_launch_options, CLI_NAMES_FILE, .exits = SERVICE_EXITS,
      .example = "selvedge service launch --wait=2m shop.json" },
    { "service save", cli_cmd_service_save, "service save [--name NAME] [--hadoop] FILE",
      "store a service's definition without starting it", "", service_save_options, CLI_NAMES_FILE,
      .exits = SERVICE_EXITS, .example = "selvedge service save --name shop2 shop.json" },
    { "service start", cli_cmd_service_start, "service start [--wait[=TIME]] NAME",
      "start a saved or stopped service and print its application's id", "", service_start_options,
      CLI_NAMES_SERVICE, .example = "selvedge service start --wait shop" },
    { "service stop", cli_cmd_service_stop, "service stop [--wait[=TIME]] NAME", "stop a service",
      "Its definition and the counts of its instances are kept.\n", service_stop_options,
      CLI_NAMES_SERVICE, .example = "selvedge service stop --wait shop" },
    { "service destroy", cli_cmd_service_destroy, "service destroy NAME",
      "stop a service and delete its definition", "", NULL, CLI_NAMES_SERVICE,
      .example = "selvedge service destroy shop" },
    { "service flex", cli_cmd_service_flex, "service flex [--wait[=TIME]] NAME COMPONENT=COUNT...",
      "change how many instances components have",
      "COUNT is a number, or relative as in +2 or -1. Of fewer instances, those with the highest\n"
      "numbers end.\n",
      service_start_options, CLI_NAMES_SERVICE,
      .example = "selvedge service flex shop web=+2 db=1" },
    { "service status", cli_cmd_service_status, "service status NAME",
      "describe a service and its components", "", NULL, CLI_NAMES_SERVICE,
      .example = "selvedge service status shop" },
    { "service instances", cli_cmd_service_instances,
      "service instances [--version VERSION] [--states STATES] [--component NAMES] NAME",
      "list the instances of a service that have a container", "", service_instances_options,
      CLI_NAMES_SERVICE,
      .example = "selvedge service instances --states READY --component web shop" },
    { "service upgrade", cli_cmd_service_upgrade, "service upgrade [OPTIONS] NAME [FILE]",
      "upgrade a service to a new version of its definition",
      "FILE begins an upgrade, which changes no instance without --express: then upgrade them by\n"
      "--instances or --components, and end it by --finalize. It needs\n"
      "yarn.service.upgrade.enabled, and another version in FILE.\n",
      service_upgrade_options, CLI_NAMES_SERVICE, .exits = SERVICE_EXITS,
      .example = "selvedge service upgrade --express --wait shop shop2.json" },
    { "service logs", cli_cmd_service_logs, "service logs [OPTIONS] NAME [INSTANCE]",
      "show the output of a service's instances",
      "Options are those of logs. Instances write it to stdout.txt and stderr.txt.\n", logs_options,
      CLI_NAMES_SERVICE, .example = "selvedge service logs --tail 20 shop web-0" },
    { "service import-slider", cli_cmd_service_import_slider,
      "service import-slider [--name NAME] RESOURCES [APPCONF [INTERNAL]]",
      "print the definition that Slider's files spell",
      "They are resources.json, appConf.json and internal.json of Slider. Slider has the commands\n"
      "in the application's package: launch_command of a component in APPCONF says it.\n",
      service_import_options, CLI_NAMES_FILE, .exits = SERVICE_EXITS,
      .example = "selvedge service import-slider --name shop resources.json appConf.json" },
    { "framework submit", cli_cmd_framework_submit,
      "framework submit [--explain] [--wait[=TIME]] NAME FILE",
      "submit a framework of task roles, or change one",
      "FILE is its FrameworkDescriptor (docs/frameworks.md); - is the standard input. Another\n"
      "version begins anew, the same one changes the running framework; one without a user is\n"
      "the caller's. These commands talk to\n"
      "selvedge-services at selvedge.framework.web-server-address, else at\n"
      "yarn.service.api-server.address.\n",
      framework_submit_options, CLI_NAMES_NONE, .then = CLI_NAMES_FILE, .exits = FRAMEWORK_EXITS,
      .example = "selvedge framework submit --wait ann~train train.json" },
    { "framework status", cli_cmd_framework_status, "framework status NAME",
      "describe a framework and its task roles", "", NULL, CLI_NAMES_NONE,
      .example = "selvedge framework status ann~train" },
    { "framework list", cli_cmd_framework_list, "framework list [--user USER]", "list frameworks",
      "", framework_list_options, CLI_NAMES_NONE, .example = "selvedge framework list --user ann" },
    { "framework tasks", cli_cmd_framework_tasks,
      "framework tasks [--role ROLE] [--states STATES] NAME", "list the tasks of a framework",
      "A task is named ROLE-INDEX.\n", framework_tasks_options, CLI_NAMES_NONE,
      .example = "selvedge framework tasks -o wide --states FAILED ann~train" },
    { "framework scale", cli_cmd_framework_scale, "framework scale NAME ROLE=COUNT...",
      "change the number of tasks of roles", "The tasks of the highest indexes are removed.\n",
      NULL, CLI_NAMES_NONE, .example = "selvedge framework scale ann~train worker=10" },
    { "framework stop", cli_cmd_framework_stop, "framework stop [--wait[=TIME]] NAME",
      "end a framework, which stays listed", "", framework_stop_options, CLI_NAMES_NONE,
      .example = "selvedge framework stop --wait ann~train" },
    { "framework delete", cli_cmd_framework_delete, "framework delete NAME",
      "end a framework and forget it", "", NULL, CLI_NAMES_NONE,
      .example = "selvedge framework delete ann~train" },
    { "framework migrate", cli_cmd_framework_migrate, "framework migrate NAME TASK",
      "end a task's container; its retry policy starts it elsewhere",
      "TASK is ROLE-INDEX, or its container's id.\n", NULL, CLI_NAMES_NONE,
      .example = "selvedge framework migrate ann~train worker-3" },
    { "framework logs", cli_cmd_framework_logs, "framework logs [OPTIONS] NAME [TASK]",
      "show the output of a framework's tasks", "Options are those of logs.\n", logs_options,
      CLI_NAMES_NONE, .example = "selvedge framework logs --tail 20 ann~train worker-3" },
    { "framework watch", cli_cmd_framework_watch, "framework watch NAME",
      "print a line each time a framework changes, until it has ended", "", NULL, CLI_NAMES_NONE,
      .exits = FRAMEWORK_EXITS, .example = "selvedge framework watch ann~train" },
    { "localize", cli_cmd_localize, "localize [OPTIONS] --as USER --visibility VISIBILITY URL...",
      "fetch resources by hand as this node does for a container",
      "Run it as root or as the NodeManager's account, on a node whose NodeManager runs, which\n"
      "owns the cgroup of localizers. The results are deleted again; the NodeManager's cache\n"
      "is not touched.\n",
      localize_options, CLI_NAMES_NONE,
      .exits =
          "0 when everything was fetched, 1 when one was refused, with the reason in a line, 2\n"
          "for wrong usage.\n",
      .example = "selvedge localize --as alice --visibility private "
                 "--archive hdfs://ns1/user/alice/app.tgz" },
    { "doctor", cli_cmd_doctor, "doctor [--user NAME] [--principal NAME]",
      "check which limits and protections this node can enforce",
      "Changes nothing; needs no ResourceManager. As root or as the NodeManager's account it\n"
      "also queries container-executor. Without --conf and $HADOOP_CONF_DIR it reads what the\n"
      "NodeManager reads, by /etc/default/selvedge-nodemanager. With Kerberos it logs in at the\n"
      "KDC by the node's keytab; --principal tries the rules of auth_to_local.\n",
      doctor_options, CLI_NAMES_NONE,
      .exits = "0 when all is in order, 1 when containers run with less protection than possible,\n"
               "2 when they do not run or a guarantee is broken.\n",
      .example = "selvedge doctor" },
    { "config", cli_cmd_config, "config [-a | --unknown | KEY]",
      "show the configuration of this machine",
      "Values set in core-site.xml, yarn-site.xml and hdfs-site.xml, with file and line. For one\n"
      "KEY also its default, its meaning, and the programs that read it. --unknown lists keys\n"
      "that are probably typing errors.\n",
      config_options, CLI_NAMES_NONE, .exits = "as always; with --unknown 1 when there are any.\n",
      .example = "selvedge config yarn.resourcemanager.address" },
    { "version", cli_cmd_version, "version", "show the versions of this program and the cluster",
      "", NULL, CLI_NAMES_NONE, .example = "selvedge version" },
    { "complete", cli_cmd_complete, "complete WORD...", "print completions of the last word", "",
      NULL, CLI_NAMES_NONE, .hidden = true },
    { "manual", cli_cmd_manual, "manual", "print the man page", "", NULL, CLI_NAMES_NONE,
      .hidden = true },
    { "reference", cli_cmd_reference, "reference", "print docs/commands.md", "", NULL,
      CLI_NAMES_NONE, .hidden = true },
    { 0 },
};
