/* Texts as Java has them: String.hashCode(), the order of a HashMap, Float.toString(). The bytes
 * that Hadoop writes and the sub-cluster that it picks depend on them. */
#ifndef SELVEDGE_FEDERATION_POLICY_JAVA_TEXT_H
#define SELVEDGE_FEDERATION_POLICY_JAVA_TEXT_H

#include "common/base.h"

#define FED_FLOAT_TEXT 32 /* bytes of a float's text with its NUL */

/* Over the UTF-16 units of a UTF-8 text; bytes that are not UTF-8 count as themselves. */
int32_t fed_java_hash(const char *s);
/* The order in which a HashMap of n sub-cluster ids gives them, as indices: order[n]. The ids
 * differ and were put in the given order. */
void fed_java_order(const char *const *ids, size_t n, size_t *order);
/* The shortest digits that read as the same float; "0.3", "1.0E10". `v` is finite. */
void fed_java_float(float v, char text[FED_FLOAT_TEXT]);

#endif
