/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_MANIFEST_INTERNAL_H
#define PAIRPERF_MANIFEST_INTERNAL_H

#include "pairperf/manifest.h"
#include "walk.h"

/* pp_manifest_build() of a root that was listed before. Afterwards all facts but those of links are
 * known. */
pp_status pp__manifest_of_walk(pp__walk *walk, const pp_manifest_options *options,
                               pp_manifest *ret_manifest, pp_error *reterr);

#endif
