/* SPDX-License-Identifier: Apache-2.0 */
/* The home is new: one exclusive mkdir, so nothing of another run can be in it. Links come before
 * the layout's directories and may not bear their names, so that no directory is ever made inside
 * the real home. */
#include "pairperf/sandbox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "cleanup.h"
#include "fs_internal.h"
#include "sandbox_layout.h"

const pp__sandbox_place pp__sandbox_places[] = {
    { "CFFIXED_USER_HOME", "", true },       { "HOME", "", true },
    { "TEMP", PP__SANDBOX_TMP, true },       { "TMP", PP__SANDBOX_TMP, true },
    { "TMPDIR", PP__SANDBOX_TMP, true },     { "XDG_CACHE_HOME", ".cache", false },
    { "XDG_CONFIG_HOME", ".config", false }, { "XDG_DATA_HOME", ".local/share", false },
    { "XDG_RUNTIME_DIR", "run", true },      { "XDG_STATE_HOME", ".local/state", false },
};
const size_t pp__sandbox_place_count = sizeof pp__sandbox_places / sizeof *pp__sandbox_places;

static pp_status no_memory(pp_error *reterr, const char *path) {
    return pp_fail(reterr, PP_E_NOMEM, ENOMEM, "malloc", "%s", path);
}

static bool is_dot_name(const char *name) {
    return name[0] == '.' && name[1] && strcmp(name, "..") != 0 && !strchr(name, '/');
}

/* Is it the first component of a directory of the layout? */
static bool layout_uses(const char *name) {
    size_t size = strlen(name);
    for (size_t i = 0; i < pp__sandbox_place_count; i++) {
        const char *directory = pp__sandbox_places[i].directory;
        if (strncmp(directory, name, size) == 0 &&
            (directory[size] == '\0' || directory[size] == '/'))
            return true;
    }
    return false;
}

static pp_status check_link_names(const pp_sandbox *sandbox, pp_error *reterr) {
    const char *const *names = sandbox->link_dotdirs;
    if (!names || !names[0])
        return PP_OK;
    if (!sandbox->real_home || sandbox->real_home[0] != '/')
        return pp_fail(reterr, PP_E_INVALID, 0, "link-dotdir", "the real home is not known");
    for (; *names; names++) {
        if (!is_dot_name(*names))
            return pp_fail(reterr, PP_E_INVALID, 0, "link-dotdir",
                           "%s: not one name that begins with a dot", *names);
        if (layout_uses(*names))
            return pp_fail(reterr, PP_E_REFUSED, 0, "link-dotdir",
                           "%s: the sandbox has its own directory of that name", *names);
    }
    return PP_OK;
}

static pp_status link_dotdir(const pp_sandbox *sandbox, const char *name, pp_error *reterr) {
    PP_AUTO_FREE char *target = pp__fs_join(sandbox->real_home, name);
    PP_AUTO_FREE char *link = pp__fs_join(sandbox->home, name);
    if (!target || !link)
        return no_memory(reterr, name);
    pp_fs_info info;
    pp_status status = pp_fs_stat(target, true, &info, reterr);
    if (status != PP_OK)
        return status;
    if (strcmp(info.type, "directory") != 0)
        return pp_fail(reterr, PP_E_REFUSED, 0, "link-dotdir", "%s: not a directory", target);
    if (symlink(target, link) != 0)
        return pp__fs_fail(reterr, errno, "symlink", link);
    return PP_OK;
}

static pp_status make_place(const char *home, const pp__sandbox_place *place, pp_error *reterr) {
    PP_AUTO_FREE char *path = pp__fs_join(home, place->directory);
    if (!path)
        return no_memory(reterr, home);
    pp_status status = pp_fs_mkdirs(path, reterr);
    if (status == PP_OK && place->is_private)
        status = pp_fs_chmod(path, 0700, reterr);
    return status;
}

pp_status pp_sandbox_prepare(const pp_sandbox *sandbox, pp_template *ret_template,
                             pp_error *reterr) {
    pp_template copied = { 0 };
    pp_status status = check_link_names(sandbox, reterr);
    if (status == PP_OK)
        status = pp_fs_mkdir_exclusive(sandbox->home, reterr);
    if (status == PP_OK && sandbox->template_dir)
        status =
            pp_template_copy(sandbox->template_dir, sandbox->home, sandbox->watch, &copied, reterr);
    const char *const *names = sandbox->link_dotdirs;
    for (; status == PP_OK && names && *names; names++)
        status = link_dotdir(sandbox, *names, reterr);
    for (size_t i = 0; status == PP_OK && i < pp__sandbox_place_count; i++)
        status = make_place(sandbox->home, &pp__sandbox_places[i], reterr);
    if (status == PP_OK && sandbox->template_dir && ret_template)
        *ret_template = copied;
    return status;
}

long pp_sandbox_socket_room(const char *home, size_t *ret_limit) {
    struct sockaddr_un address;
    size_t limit = sizeof address.sun_path;
    *ret_limit = limit;
    return (long)limit - (long)(strlen(home) + sizeof "/" PP__SANDBOX_TMP "/"); /* NUL included */
}
