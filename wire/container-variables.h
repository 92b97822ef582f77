/* Variables of a launch context by which an ApplicationMaster of ours asks a NodeManager of ours
 * for what YARN has no field for, and by which the node tells. Apache's NodeManager knows none. */
#ifndef SELVEDGE_WIRE_CONTAINER_VARIABLES_H
#define SELVEDGE_WIRE_CONTAINER_VARIABLES_H

/* TCP ports that the master has picked: "label:2000,2001;label:80;". */
#define YARN_VARIABLE_PORTS "SELVEDGE_CONTAINER_PORTS"
#define YARN_VARIABLE_PORTS_MAX 1024

/* The GPUs of the container by their places in the node's list, from 0 on: those that the master
 * wants, and those that the node has given. */
#define YARN_VARIABLE_GPUS "SELVEDGE_CONTAINER_GPUS"    /* "0,2" */
#define YARN_VARIABLE_GIVEN_GPUS "SELVEDGE_GPU_INDEXES" /* "0,2" */

#endif
