#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every source file names its licence in its first lines and is at most 600 lines long.
set -euo pipefail
cd "$(dirname "$0")/.."

list_files() {
    if [ -e .git ]; then
        git -c safe.directory="$PWD" ls-files --cached --others --exclude-standard
    else
        find . -path ./build -prune -o -name node_modules -prune -o -type f -print | sed 's|^\./||'
    fi
}

is_source() {
    case $1 in
    *.c | *.h | *.lua | *.sh | *.py | *.js | *.mjs | *.cmake | *.in | *.toml) true ;;
    Makefile | */CMakeLists.txt | CMakeLists.txt | .clang-* | .luacheckrc | .gitignore) true ;;
    *.*) false ;;
    *) IFS= read -r -n 2 magic <"$1" && [ "$magic" = '#!' ] ;;
    esac
}

bad=0
while IFS= read -r file; do
    if [ ! -f "$file" ] || ! is_source "$file"; then
        continue
    fi
    mapfile -t lines <"$file"
    if [[ "${lines[*]:0:5}" != *'SPDX-License-Identifier: Apache-2.0'* ]]; then
        echo "$file: no SPDX-License-Identifier in the first five lines"
        bad=1
    fi
    if [ ${#lines[@]} -gt 600 ]; then
        echo "$file: ${#lines[@]} lines, at most 600"
        bad=1
    fi
done < <(list_files)
exit "$bad"
