/* SPDX-License-Identifier: MIT */
/*
 * What `tracerpt -of XML` makes of a trace: an element for each event.
 *
 *     <Event> <System> <Provider Name= Guid=/> <EventID>175</EventID> <Version>1</Version>
 *                      <TimeCreated SystemTime="2026-01-02T03:04:05.678901200+00:59"/>
 *                      <Execution ProcessID= ThreadID= ProcessorID=/> </System>
 *             <EventData> <Data Name="hContext">0xFFFF...</Data> ... </EventData>
 *             <RenderingInfo> ... </RenderingInfo> </Event>
 *
 * Fields are found by their names. An array has an element Data for each of its own, or one with
 * all of them. Where Windows does not know the provider, the payload stands in BinaryEventData as
 * hexadecimal digits, and is decoded as that of an .etl. The first event is that of the recording
 * about itself. RenderingInfo repeats what is known in words, and is passed over.
 *
 * The parser is expat. Document types are refused, and with them all entities of the file's own;
 * the texts of one event are kept up to a size that no event of Windows reaches.
 */
#include "util/alloc.h"
#include "wintrace/form.h"
#include "wintrace/lines.h"
#include "wintrace/order.h"
#include "wintrace/text_event.h"
#include "wintrace/text_time.h"

#include <expat.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MOST_TEXT  ((size_t)1 << 20) /* of an event, with the names of its fields */
#define MOST_PAIRS 16384u
#define MOST_DEPTH 64u
#define FREQUENCY  1000000000u

enum section { SECTION_NONE, SECTION_SYSTEM, SECTION_DATA, SECTION_BINARY };
enum element { ELEMENT_OTHER, ELEMENT_ID, ELEMENT_VERSION, ELEMENT_DATA, ELEMENT_BINARY };

/* A field of an event: where its name and its value are in the texts. */
struct pair {
    uint32_t name, name_length, value, value_length;
};

struct xml {
    struct wintrace *trace;
    struct form_error *error;
    XML_Parser parser;
    struct text_event event;
    unsigned depth, event_depth; /* 0: outside of an event */
    enum section section;
    enum element element; /* whose text is being read */
    char *texts;
    size_t used;
    struct pair *pair;
    unsigned pairs;
    uint32_t begin; /* of the text of `element` */
    /* of the event */
    uint64_t id, version, process, thread, processor;
    bool is_dxgkrnl, has_id, has_time, too_large;
    struct pair binary;
    bool has_binary, described, failed;
    unsigned pointer_bytes; /* of payloads */
};

static bool xml_is(const uint8_t *bytes, size_t length)
{
    return lines_begin_with(bytes, length, "<?xml") || lines_begin_with(bytes, length, "<Event");
}

/* ---- errors ---- */

static void fail(struct xml *xml, const char *what)
{
    if (xml->failed)
        return;
    snprintf(xml->error->text, sizeof(xml->error->text), "line %lu: %s",
             (unsigned long)XML_GetCurrentLineNumber(xml->parser), what);
    xml->failed = true;
    (void)XML_StopParser(xml->parser, XML_FALSE);
}

static void no_memory(struct xml *xml)
{
    if (!xml->failed)
        snprintf(xml->error->text, sizeof(xml->error->text), "out of memory");
    xml->failed = true;
    (void)XML_StopParser(xml->parser, XML_FALSE);
}

/* ---- texts of an event ---- */

static void append(struct xml *xml, const char *from, size_t length)
{
    if (length > MOST_TEXT - xml->used) {
        xml->too_large = true;
        return;
    }
    memcpy(xml->texts + xml->used, from, length);
    xml->used += length;
}

static struct text text_at(const struct xml *xml, uint32_t at, uint32_t length)
{
    return (struct text){xml->texts + at, length};
}

static const char *attribute(const XML_Char **attributes, const char *name)
{
    for (; attributes[0]; attributes += 2)
        if (strcmp(attributes[0], name) == 0)
            return attributes[1];
    return NULL;
}

static bool number_of(const XML_Char **attributes, const char *name, uint64_t most, uint64_t *value)
{
    const char *text = attribute(attributes, name);

    *value = 0;
    return !text || (text_number(text_of(text), value) && *value <= most);
}

/* ---- elements ---- */

static void begin_event(struct xml *xml)
{
    xml->event_depth = xml->depth;
    xml->section = SECTION_NONE;
    xml->element = ELEMENT_OTHER;
    xml->used = 0;
    xml->pairs = 0;
    xml->id = xml->version = xml->process = xml->thread = xml->processor = 0;
    xml->is_dxgkrnl = xml->has_id = xml->has_time = xml->too_large = xml->has_binary = false;
}

static void begin_system(struct xml *xml, const char *name, const XML_Char **attributes)
{
    const char *value;

    if (strcmp(name, "EventID") == 0) {
        xml->element = ELEMENT_ID;
    } else if (strcmp(name, "Version") == 0) {
        xml->element = ELEMENT_VERSION;
    } else if (strcmp(name, "Provider") == 0) {
        value = attribute(attributes, "Name");
        xml->is_dxgkrnl = value && text_is_dxgkrnl(text_of(value));
        value = attribute(attributes, "Guid");
        xml->is_dxgkrnl |= value && text_is_dxgkrnl(text_of(value));
    } else if (strcmp(name, "TimeCreated") == 0) {
        value = attribute(attributes, "SystemTime");
        xml->has_time = value && text_time(text_of(value), &xml->event.head.time);
        if (value && !xml->has_time)
            fail(xml, "its SystemTime is no time of the years 1970 to 2250");
    } else if (strcmp(name, "Execution") == 0) {
        if (!number_of(attributes, "ProcessID", UINT32_MAX, &xml->process) ||
            !number_of(attributes, "ThreadID", UINT32_MAX, &xml->thread) ||
            !number_of(attributes, "ProcessorID", UINT16_MAX, &xml->processor))
            fail(xml, "its ProcessID, ThreadID or ProcessorID is no number that fits");
    }
    xml->begin = (uint32_t)xml->used;
}

static void begin_data(struct xml *xml, const XML_Char **attributes)
{
    const char *name = attribute(attributes, "Name");

    if (xml->pairs == MOST_PAIRS) {
        xml->too_large = true;
        return;
    }
    xml->element = ELEMENT_DATA;
    xml->pair[xml->pairs].name = (uint32_t)xml->used;
    if (name)
        append(xml, name, strlen(name));
    xml->pair[xml->pairs].name_length = (uint32_t)xml->used - xml->pair[xml->pairs].name;
    xml->begin = (uint32_t)xml->used;
}

static void XMLCALL on_start(void *reader, const XML_Char *name, const XML_Char **attributes)
{
    struct xml *xml = reader;

    if (++xml->depth > MOST_DEPTH) {
        fail(xml, "elements are nested too deeply");
        return;
    }
    if (!xml->event_depth) {
        if (strcmp(name, "Event") == 0)
            begin_event(xml);
        return;
    }
    if (xml->depth == xml->event_depth + 1) {
        xml->section = strcmp(name, "System") == 0      ? SECTION_SYSTEM
                       : strcmp(name, "EventData") == 0 ? SECTION_DATA
                                                        : SECTION_NONE;
        if (strcmp(name, "BinaryEventData") == 0) {
            xml->section = SECTION_BINARY;
            xml->element = ELEMENT_BINARY;
            xml->begin = (uint32_t)xml->used;
        }
    } else if (xml->depth == xml->event_depth + 2 && xml->section == SECTION_SYSTEM) {
        begin_system(xml, name, attributes);
    } else if (xml->section == SECTION_DATA && strcmp(name, "Data") == 0) {
        begin_data(xml, attributes);
    }
}

static void XMLCALL on_text(void *reader, const XML_Char *text, int length)
{
    struct xml *xml = reader;

    if (xml->element != ELEMENT_OTHER)
        append(xml, text, (size_t)length);
}

/* ---- events ---- */

static uint64_t header_number(const struct xml *xml, const char *name)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < xml->pairs; i++)
        if (text_is(text_at(xml, xml->pair[i].name, xml->pair[i].name_length), name))
            (void)text_number(text_at(xml, xml->pair[i].value, xml->pair[i].value_length), &value);
    return value;
}

/* The first event of another provider that has these fields is that of the recording. */
static void describe(struct xml *xml)
{
    uint64_t build = header_number(xml, "ProviderVersion");

    if (!build)
        return;
    xml->described = true;
    xml->trace->build = (unsigned)build;
    xml->trace->processors = (unsigned)header_number(xml, "NumberOfProcessors");
    if (header_number(xml, "PointerSize") == 4)
        xml->pointer_bytes = 4;
    xml->trace->lost = header_number(xml, "EventsLost") + header_number(xml, "BuffersLost");
}

/* All that are called like the next field of the event. False: they do not fit. */
static bool take_field(struct xml *xml, const struct wintrace_field *field, unsigned *at)
{
    uint64_t wanted = text_event_elements(&xml->event), found = 0;
    unsigned first = *at; /* where the field before it ended: the next pair, as a rule */

    for (unsigned seen = 0; seen < xml->pairs && found < wanted; seen++) {
        const struct pair *pair = &xml->pair[(first + seen) % xml->pairs];
        struct text value = text_at(xml, pair->value, pair->value_length);

        if (!text_names_field(text_at(xml, pair->name, pair->name_length), field->name)) {
            if (found)
                break; /* the elements of an array stand together */
            continue;
        }
        if (field->count && found == 0 && text_event_put_list(&xml->event, value))
            found = wanted;
        else if (text_event_put(&xml->event, value))
            found++;
        else
            return false;
        *at = (unsigned)(pair - xml->pair) + 1;
    }
    return found == wanted;
}

static bool take_fields(struct xml *xml)
{
    const struct wintrace_kind *kind = xml->event.head.kind;
    unsigned at = 0;

    for (unsigned i = 0; i < kind->fields; i++, text_event_next(&xml->event))
        if (!take_field(xml, &kind->field[i], &at))
            return false;
    return true;
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The payload as hexadecimal digits. */
static enum decode_result decode_binary(struct xml *xml)
{
    const char *text = xml->texts + xml->binary.value;
    size_t bytes = 0, digits = 0;

    for (size_t i = 0; i < xml->binary.value_length; i++) {
        int digit = digit_of(text[i]);

        if (digit < 0 && strchr(" \t\r\n", text[i]))
            continue;
        if (digit < 0 || bytes == TEXT_EVENT_BYTES)
            return DECODE_SHORT;
        xml->event.payload[bytes] = (uint8_t)(xml->event.payload[bytes] << 4 | digit);
        bytes += digits++ % 2;
    }
    return decode_event(xml->trace, &xml->event.head, xml->event.payload, bytes, xml->pointer_bytes);
}

static void decode(struct xml *xml)
{
    enum decode_result result = DECODE_SHORT;

    if (!xml->too_large && xml->has_binary)
        result = decode_binary(xml);
    else if (!xml->too_large && take_fields(xml))
        result = text_event_end(&xml->event, xml->trace);
    if (result == DECODE_NO_MEMORY)
        no_memory(xml);
    xml->trace->undecoded += result == DECODE_SHORT;
}

static void end_event(struct xml *xml)
{
    const struct wintrace_kind *kind;

    xml->event_depth = 0;
    if (!xml->is_dxgkrnl) {
        xml->trace->others++;
        if (!xml->described)
            describe(xml);
        return;
    }
    if (!xml->has_id || !xml->has_time) {
        fail(xml, xml->has_id ? "an event of DxgKrnl has no SystemTime"
                              : "an event of DxgKrnl has no EventID and Version that fit");
        return;
    }
    kind = wintrace_kind_find((uint16_t)xml->id, (uint8_t)xml->version);
    if (!kind) {
        xml->trace->unknown++;
        xml->trace->unknown_id = (uint16_t)xml->id;
        xml->trace->unknown_version = (uint8_t)xml->version;
        return;
    }
    xml->event.head.process = (uint32_t)xml->process;
    xml->event.head.thread = (uint32_t)xml->thread;
    xml->event.head.processor = (uint16_t)xml->processor;
    text_event_begin(&xml->event, kind);
    decode(xml);
}

static void end_element(struct xml *xml)
{
    uint32_t length = (uint32_t)xml->used - xml->begin;
    struct text text = text_at(xml, xml->begin, length);

    switch (xml->element) {
    case ELEMENT_ID:
        xml->has_id = text_number(text, &xml->id) && xml->id <= UINT16_MAX;
        break;
    case ELEMENT_VERSION:
        xml->has_id &= text_number(text, &xml->version) && xml->version <= UINT8_MAX;
        break;
    case ELEMENT_DATA:
        xml->pair[xml->pairs].value = xml->begin;
        xml->pair[xml->pairs++].value_length = length;
        break;
    case ELEMENT_BINARY:
        xml->binary = (struct pair){.value = xml->begin, .value_length = length};
        xml->has_binary = true;
        break;
    default:
        break;
    }
    xml->element = ELEMENT_OTHER;
}

static void XMLCALL on_end(void *reader, const XML_Char *name)
{
    struct xml *xml = reader;

    (void)name;
    if (xml->failed)
        return;
    end_element(xml);
    if (xml->event_depth && xml->depth == xml->event_depth)
        end_event(xml);
    xml->depth--;
}

/* ---- what is refused ---- */

static void XMLCALL on_document_type(void *reader, const XML_Char *name, const XML_Char *system,
                                     const XML_Char *public, int internal)
{
    (void)name;
    (void)system;
    (void)public;
    (void)internal;
    fail(reader, "it has a document type, as no trace has");
}

/* Code pages of one byte: what is above ASCII is read as Latin 1, which no number depends on. */
static int XMLCALL on_encoding(void *reader, const XML_Char *name, XML_Encoding *encoding)
{
    (void)reader;
    (void)name;
    for (int i = 0; i < 256; i++)
        encoding->map[i] = i;
    encoding->data = NULL;
    encoding->convert = NULL;
    encoding->release = NULL;
    return XML_STATUS_OK;
}

/* ---- the file ---- */

static void xml_destroy(void *reader)
{
    struct xml *xml = reader;

    if (xml->parser)
        XML_ParserFree(xml->parser);
    util_free(xml->texts);
    util_free(xml->pair);
    util_free(xml);
}

/* A file of one byte a letter that says it is UTF-16 (as programs write that have changed it). */
static bool is_mistaken(const uint8_t *first, size_t length)
{
    char begin[128] = "";
    unsigned mark;

    if (lines_encoding(first, length, &mark) != TEXT_UTF8)
        return false;
    memcpy(begin, first, length < sizeof(begin) - 1 ? length : sizeof(begin) - 1);
    return strcasestr(begin, "utf-16") != NULL;
}

static void *xml_begin(struct wintrace *trace, const uint8_t *first, size_t length,
                       struct form_error *error)
{
    static const XML_Memory_Handling_Suite memory = {util_alloc, util_realloc, util_free};
    struct xml *xml = util_zalloc(1, sizeof(*xml));

    if (!xml)
        return NULL;
    xml->trace = trace;
    xml->error = error;
    xml->pointer_bytes = TEXT_POINTER_BYTES;
    xml->texts = util_alloc(MOST_TEXT);
    xml->pair = util_alloc(MOST_PAIRS * sizeof(*xml->pair));
    xml->parser = XML_ParserCreate_MM(is_mistaken(first, length) ? "UTF-8" : NULL, &memory, NULL);
    if (!xml->texts || !xml->pair || !xml->parser) {
        xml_destroy(xml);
        return NULL;
    }
    XML_SetUserData(xml->parser, xml);
    XML_SetElementHandler(xml->parser, on_start, on_end);
    XML_SetCharacterDataHandler(xml->parser, on_text);
    XML_SetStartDoctypeDeclHandler(xml->parser, on_document_type);
    XML_SetUnknownEncodingHandler(xml->parser, on_encoding, NULL);
    return xml;
}

static bool parse(struct xml *xml, const uint8_t *bytes, size_t length, bool last)
{
    enum XML_Error why;

    if (XML_Parse(xml->parser, (const char *)bytes, (int)length, last) == XML_STATUS_OK)
        return true;
    why = XML_GetErrorCode(xml->parser);
    if (why == XML_ERROR_NO_MEMORY)
        no_memory(xml);
    else
        fail(xml, XML_ErrorString(why));
    return false;
}

static bool xml_feed(void *reader, const uint8_t *bytes, size_t length)
{
    size_t most = (size_t)1 << 20;

    for (size_t at = 0; at < length; at += most)
        if (!parse(reader, bytes + at, length - at < most ? length - at : most, false))
            return false;
    return true;
}

static bool xml_end(void *reader)
{
    struct xml *xml = reader;

    if (!parse(xml, NULL, 0, true))
        return false;
    wintrace_order(xml->trace, FREQUENCY);
    return true;
}

const struct wintrace_form wintrace_xml = {xml_is, xml_begin, xml_feed, xml_end, xml_destroy};
