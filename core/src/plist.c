/* SPDX-License-Identifier: Apache-2.0 */
/* A cursor over the text that only moves forward; every step that fails says so once and the others
 * end. Pure: no system call. What a property list needs of XML and no more: no internal DTD, no
 * foreign entities, attributes only on <plist>. */
#include "plist.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "pairperf/json_write.h"

enum { DEPTH_MAX = 32, TAG_MAX = 16 };

typedef struct reader {
    const char *start, *at, *end;
    pp_error *reterr;
    pp_status status;
    pp__plist_want *wants;
    size_t want_count;
} reader;

static bool bad(reader *in, const char *what) {
    if (in->status != PP_OK)
        return false;
    size_t line = 1;
    for (const char *c = in->start; c < in->at; c++)
        line += *c == '\n';
    in->status = pp_fail(in->reterr, PP_E_MALFORMED, 0, "plist", "line %zu: %s", line, what);
    return false;
}

static bool looking_at(const reader *in, const char *text) {
    size_t size = strlen(text);
    return (size_t)(in->end - in->at) >= size && memcmp(in->at, text, size) == 0;
}

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip_spaces(reader *in) {
    while (in->at < in->end && is_space(*in->at))
        in->at++;
}

/* Moves behind the next `text`. */
static bool skip_past(reader *in, const char *text, const char *what) {
    while (in->at < in->end && !looking_at(in, text))
        in->at++;
    if (in->at == in->end)
        return bad(in, what);
    in->at += strlen(text);
    return true;
}

static bool skip_doctype(reader *in) {
    const char *open = memchr(in->at, '>', (size_t)(in->end - in->at));
    if (open && memchr(in->at, '[', (size_t)(open - in->at)))
        return bad(in, "a document type of its own");
    return skip_past(in, ">", "an open <!DOCTYPE");
}

/* Spaces, comments, processing instructions and the document type. */
static bool skip_misc(reader *in) {
    for (;;) {
        skip_spaces(in);
        bool more = true;
        if (looking_at(in, "<!--"))
            more = skip_past(in, "-->", "an open comment");
        else if (looking_at(in, "<?"))
            more = skip_past(in, "?>", "an open <?");
        else if (looking_at(in, "<!DOCTYPE"))
            more = skip_doctype(in);
        else
            return true;
        if (!more)
            return false;
    }
}

typedef struct tag {
    char name[TAG_MAX];
    bool closing; /* </name> */
    bool empty;   /* <name/> */
} tag;

static bool read_tag(reader *in, tag *ret_tag) {
    tag found = { 0 };
    if (!looking_at(in, "<"))
        return bad(in, "a tag is missing");
    in->at++;
    if (looking_at(in, "/")) {
        found.closing = true;
        in->at++;
    }
    size_t size = 0;
    while (in->at < in->end && *in->at >= 'a' && *in->at <= 'z' && size + 1 < TAG_MAX)
        found.name[size++] = *in->at++;
    skip_spaces(in);
    if (strcmp(found.name, "plist") == 0 && !found.closing) /* its version attribute */
        while (in->at < in->end && *in->at != '>' && *in->at != '<')
            in->at++;
    if (looking_at(in, "/")) {
        found.empty = true;
        in->at++;
    }
    if (size == 0 || !looking_at(in, ">") || (found.closing && found.empty))
        return bad(in, "not a tag of a property list");
    in->at++;
    *ret_tag = found;
    return true;
}

static bool read_closing(reader *in, const char *name) {
    tag found;
    if (!read_tag(in, &found))
        return false;
    if (!found.closing || strcmp(found.name, name) != 0)
        return bad(in, "a closing tag is missing");
    return true;
}

/* Writes a code point and gives its size; 0 = a control or none. Surrogates come out as bytes that
 * are not UTF-8, which the whole text is checked for. */
static size_t put_code_point(unsigned long code, char *out) {
    if ((code < 0x20 && code != '\t' && code != '\n' && code != '\r') || code > 0x10ffff)
        return 0;
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t size = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    for (size_t i = size; i > 1; i--) {
        out[i - 1] = (char)(0x80 | (code & 0x3f));
        code >>= 6;
    }
    out[0] = (char)(lead[size] | code);
    return size;
}

/* &name; or &#n; or &#xn; at the cursor. An entity is never shorter than its character. */
static bool read_entity(reader *in, char **out) {
    static const struct {
        const char *name;
        char value;
    } named[] = {
        { "&amp;", '&' }, { "&lt;", '<' }, { "&gt;", '>' }, { "&quot;", '"' }, { "&apos;", '\'' }
    };
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        if (looking_at(in, named[i].name)) {
            in->at += strlen(named[i].name);
            *(*out)++ = named[i].value;
            return true;
        }
    }
    if (!looking_at(in, "&#"))
        return bad(in, "an unknown entity");
    in->at += 2;
    int base = looking_at(in, "x") ? 16 : 10;
    in->at += base == 16;
    unsigned long code = 0;
    const char *digits = in->at;
    static const char all[] = "0123456789abcdef";
    while (in->at < in->end && code <= 0x10ffff) {
        char c = *in->at >= 'A' && *in->at <= 'F' ? (char)(*in->at + 32) : *in->at;
        const char *digit = c ? memchr(all, c, (size_t)base) : NULL;
        if (!digit)
            break;
        code = code * (unsigned long)base + (unsigned long)(digit - all);
        in->at++;
    }
    size_t size = in->at > digits && looking_at(in, ";") ? put_code_point(code, *out) : 0;
    if (size == 0)
        return bad(in, "a bad character number");
    in->at++;
    *out += size;
    return true;
}

static bool read_cdata(reader *in, char **out) {
    in->at += strlen("<![CDATA[");
    const char *text = in->at;
    if (!skip_past(in, "]]>", "an open <![CDATA["))
        return false;
    size_t size = (size_t)(in->at - text) - strlen("]]>");
    memcpy(*out, text, size);
    *out += size;
    return true;
}

/* Character data up to the next tag, which must close `name`. *ret_text: the caller frees it. */
static bool read_text(reader *in, const char *name, char **ret_text) {
    char *text = malloc((size_t)(in->end - in->at) + 1);
    if (!text) {
        in->status = pp_fail(in->reterr, PP_E_NOMEM, ENOMEM, "malloc", "plist");
        return false;
    }
    char *out = text;
    bool good = true;
    while (good && in->at < in->end) {
        if (*in->at == '&')
            good = read_entity(in, &out);
        else if (looking_at(in, "<![CDATA["))
            good = read_cdata(in, &out);
        else if (*in->at == '<')
            break;
        else
            *out++ = *in->at++;
    }
    if (good &&
        (memchr(text, 0, (size_t)(out - text)) || !pp_utf8_valid(text, (size_t)(out - text))))
        good = bad(in, "text that is not UTF-8");
    if (!good || !read_closing(in, name)) {
        free(text);
        return false;
    }
    *out = '\0';
    *ret_text = text;
    return true;
}

static pp__plist_want *wanted(const reader *in, const char *key) {
    for (size_t i = 0; i < in->want_count; i++)
        if (strcmp(in->wants[i].key, key) == 0)
            return &in->wants[i];
    return NULL;
}

static bool is_scalar(const char *name) {
    static const char *const names[] = { "string", "data", "date", "integer", "real" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static bool read_value(reader *in, int depth, pp__plist_want *want);

static bool read_scalar(reader *in, const tag *found, pp__plist_want *want) {
    char *text = NULL;
    if (found->empty)
        text = strdup("");
    else if (!read_text(in, found->name, &text))
        return false;
    if (!want) {
        free(text);
        return true;
    }
    if (strcmp(found->name, "string") != 0 || want->value) {
        free(text);
        return bad(in, want->value ? "a key twice" : "a value that should be a string");
    }
    want->value = text;
    return true;
}

/* After <dict>, up to and with </dict>. */
static bool read_dict(reader *in, int depth) {
    for (;;) {
        tag found;
        if (!skip_misc(in) || !read_tag(in, &found))
            return false;
        if (found.closing)
            return strcmp(found.name, "dict") == 0 || bad(in, "</dict> is missing");
        if (strcmp(found.name, "key") != 0 || found.empty)
            return bad(in, "<key> is missing");
        char *key;
        if (!read_text(in, "key", &key))
            return false;
        pp__plist_want *want = depth == 1 ? wanted(in, key) : NULL;
        free(key);
        if (!skip_misc(in) || !read_value(in, depth, want))
            return false;
    }
}

/* After <array>, up to and with </array>. */
static bool read_array(reader *in, int depth) {
    while (skip_misc(in)) {
        if (looking_at(in, "</"))
            return read_closing(in, "array");
        if (!read_value(in, depth, NULL))
            return false;
    }
    return false;
}

static bool read_value(reader *in, int depth, pp__plist_want *want) {
    tag found;
    if (depth >= DEPTH_MAX)
        return bad(in, "nested too deep");
    if (!read_tag(in, &found))
        return false;
    if (!found.closing && is_scalar(found.name))
        return read_scalar(in, &found, want);
    if (want)
        return bad(in, "a value that should be a string");
    if (!found.closing && strcmp(found.name, "dict") == 0)
        return found.empty || read_dict(in, depth + 1);
    if (!found.closing && strcmp(found.name, "array") == 0)
        return found.empty || read_array(in, depth + 1);
    bool boolean = strcmp(found.name, "true") == 0 || strcmp(found.name, "false") == 0;
    if (!found.closing && boolean)
        return found.empty || read_closing(in, found.name);
    return bad(in, "not a value of a property list");
}

static bool read_document(reader *in) {
    tag found = { 0 };
    if (looking_at(in, "\xef\xbb\xbf"))
        in->at += 3;
    if (!skip_misc(in) || !read_tag(in, &found))
        return false;
    if (strcmp(found.name, "plist") != 0 || found.closing || found.empty)
        return bad(in, "<plist> is missing");
    if (!skip_misc(in))
        return false;
    if (!looking_at(in, "<dict"))
        return bad(in, "a dictionary is missing");
    if (!read_value(in, 0, NULL) || !skip_misc(in) || !read_closing(in, "plist"))
        return false;
    skip_misc(in);
    return in->at == in->end || bad(in, "text behind </plist>");
}

pp_status pp__plist_read(const char *text, size_t size, pp__plist_want *wants, size_t count,
                         pp_error *reterr) {
    reader in = { .start = text, .at = text, .end = text + size, .reterr = reterr };
    in.wants = wants;
    in.want_count = count;
    if (looking_at(&in, "bplist"))
        return pp_fail(reterr, PP_E_UNSUPPORTED, 0, "plist",
                       "a binary property list; only XML is read (plutil -convert xml1 makes it)");
    if (!read_document(&in) && in.status == PP_OK)
        bad(&in, "not a property list");
    return in.status;
}
