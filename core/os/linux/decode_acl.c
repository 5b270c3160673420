/* SPDX-License-Identifier: Apache-2.0 */
/* What is not understood to the last byte is malformed: an access list is shown whole or not at
 * all. */
#include "decode.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* The kernel's own form (linux/posix_acl_xattr.h), little-endian: a version of 4 bytes, then
 * entries of a tag and permissions of 2 bytes each and an id of 4. */
enum { VERSION = 2, HEADER_SIZE = 4, ENTRY_SIZE = 8, ENTRY_TEXT_MAX = 24 };

typedef struct acl_tag {
    unsigned tag;
    const char *name;
    bool named; /* the id says which user or group */
} acl_tag;

static const acl_tag tags[] = {
    { 0x01, "user", false }, { 0x02, "user", true },  { 0x04, "group", false },
    { 0x08, "group", true }, { 0x10, "mask", false }, { 0x20, "other", false },
};

static uint32_t number(const uint8_t *bytes, size_t width) {
    uint32_t value = 0;
    for (size_t i = width; i-- > 0;)
        value = value << 8 | bytes[i];
    return value;
}

static const acl_tag *find_tag(unsigned tag) {
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        if (tags[i].tag == tag)
            return &tags[i];
    return NULL;
}

/* Writes "user:1000:rw-"; 0 when the entry is none. */
static size_t entry_text(const uint8_t *bytes, char *text) {
    const acl_tag *tag = find_tag(number(bytes, 2));
    unsigned permissions = number(bytes + 2, 2);
    if (!tag || permissions > 7)
        return 0;
    char id[12] = "";
    if (tag->named)
        snprintf(id, sizeof id, "%u", (unsigned)number(bytes + 4, 4));
    return (size_t)snprintf(text, ENTRY_TEXT_MAX, "%s:%s:%c%c%c", tag->name, id,
                            permissions & 4 ? 'r' : '-', permissions & 2 ? 'w' : '-',
                            permissions & 1 ? 'x' : '-');
}

pp_status pp__linux_decode_acl(const void *bytes, size_t size, char **ret_text, pp_error *reterr) {
    const uint8_t *at = bytes;
    if (size < HEADER_SIZE || (size - HEADER_SIZE) % ENTRY_SIZE != 0 || number(at, 4) != VERSION)
        return pp_fail(reterr, PP_E_MALFORMED, 0, "decode", "access list of %zu bytes", size);
    size_t count = (size - HEADER_SIZE) / ENTRY_SIZE, used = 0;
    char *text = malloc(count * (ENTRY_TEXT_MAX + 1) + 1);
    if (!text)
        return pp_fail(reterr, PP_E_NOMEM, ENOMEM, "malloc", "access list");
    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            text[used++] = ',';
        size_t length = entry_text(at + HEADER_SIZE + i * ENTRY_SIZE, text + used);
        if (length == 0) {
            free(text);
            return pp_fail(reterr, PP_E_MALFORMED, 0, "decode", "entry %zu of an access list", i);
        }
        used += length;
    }
    *ret_text = text;
    return PP_OK;
}
