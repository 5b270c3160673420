/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PP_LOOP_H
#define PP_LOOP_H

#include "os.h"

/* Serves one harness over the host's channel: starts at most one command, samples its tree, stops
 * it, proves it gone, and returns when the verdict is acknowledged or saved.
 *
 * build_id  must equal the harness's
 * Errors    PP_E_PROTOCOL  the harness does not speak this build's protocol
 *           others         what the host could not do; the tree was ended first
 */
pp_status pp_loop_run(pp_os *os, const char *build_id, pp_error *reterr);

#endif
