/* The version of all programs of one build. The packages take it from here. */
#ifndef SELVEDGE_COMMON_VERSION_H
#define SELVEDGE_COMMON_VERSION_H

#define SV_VERSION "0.1.0"

#endif
