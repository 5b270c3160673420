/* SPDX-License-Identifier: Apache-2.0 */
/* Gives a file or directory an access ACL: what its mode says, and one user more. The kernel's own
 * form of it (linux/posix_acl_xattr.h), so that no setfacl is needed.
 *
 *   acl PATH USER PERMISSIONS MASK     numbers; PERMISSIONS and MASK: 4 read, 2 write, 1 search
 *
 * Exit status 77: the file system keeps none.
 */
#include <endian.h>
#include <errno.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/xattr.h>

enum { ENTRIES = 5, SKIPPED = 77 };

static struct posix_acl_xattr_entry entry(unsigned tag, unsigned permissions, uint32_t id) {
    return (struct posix_acl_xattr_entry){
        .e_tag = htole16((uint16_t)tag),
        .e_perm = htole16((uint16_t)(permissions & 7)),
        .e_id = htole32(id),
    };
}

static unsigned number(const char *text) {
    return (unsigned)strtoul(text, NULL, 10);
}

int main(int argc, char **argv) {
    struct stat st;
    if (argc != 5 || stat(argv[1], &st) != 0) {
        fprintf(stderr, "acl PATH USER PERMISSIONS MASK\n");
        return 2;
    }
    const struct {
        struct posix_acl_xattr_header header;
        struct posix_acl_xattr_entry entries[ENTRIES];
    } acl = {
        .header = { .a_version = htole32(POSIX_ACL_XATTR_VERSION) },
        .entries = {
            entry(ACL_USER_OBJ, st.st_mode >> 6, (uint32_t)ACL_UNDEFINED_ID),
            entry(ACL_USER, number(argv[3]), number(argv[2])),
            entry(ACL_GROUP_OBJ, st.st_mode >> 3, (uint32_t)ACL_UNDEFINED_ID),
            entry(ACL_MASK, number(argv[4]), (uint32_t)ACL_UNDEFINED_ID),
            entry(ACL_OTHER, st.st_mode, (uint32_t)ACL_UNDEFINED_ID),
        },
    };
    if (setxattr(argv[1], "system.posix_acl_access", &acl, sizeof acl, 0) == 0)
        return 0;
    int failed = errno;
    perror(argv[1]);
    return failed == EOPNOTSUPP ? SKIPPED : 1;
}
