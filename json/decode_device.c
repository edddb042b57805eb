#include "json/decode.h"

/* The lines that describe: devices and passes. Tables stand in the writer's order. */

enum { SOURCE_NAME, SOURCE_STATE, SOURCE_REASON, N_SOURCE_FIELDS };

static const struct tally_field source_fields[N_SOURCE_FIELDS] = {
	[SOURCE_NAME] = TALLY_FIELD("name"),
	[SOURCE_STATE] = TALLY_FIELD("state"),
	[SOURCE_REASON] = TALLY_FIELD("reason"),
};

enum {
	COUNTER_KEY,
	COUNTER_NAME,
	COUNTER_UNIT,
	COUNTER_KIND,
	COUNTER_SOURCE,
	COUNTER_SCOPE,
	COUNTER_DESCRIPTION,
	N_COUNTER_FIELDS,
};

static const struct tally_field counter_fields[N_COUNTER_FIELDS] = {
	[COUNTER_KEY] = TALLY_FIELD("key"),
	[COUNTER_NAME] = TALLY_FIELD("name"),
	[COUNTER_UNIT] = TALLY_FIELD("unit"),
	[COUNTER_KIND] = TALLY_FIELD("kind"),
	[COUNTER_SOURCE] = TALLY_FIELD("source"),
	[COUNTER_SCOPE] = TALLY_FIELD("scope"),
	[COUNTER_DESCRIPTION] = TALLY_FIELD("description"),
};

enum {
	METRIC_KEY,
	METRIC_NAME,
	METRIC_UNIT,
	METRIC_EXPRESSION,
	METRIC_DIALECT,
	N_METRIC_FIELDS,
};

static const struct tally_field metric_fields[N_METRIC_FIELDS] = {
	[METRIC_KEY] = TALLY_FIELD("key"),         [METRIC_NAME] = TALLY_FIELD("name"),
	[METRIC_UNIT] = TALLY_FIELD("unit"),       [METRIC_EXPRESSION] = TALLY_FIELD("expression"),
	[METRIC_DIALECT] = TALLY_FIELD("dialect"),
};

enum {
	DEVICE_TYPE,
	DEVICE_DEVICE,
	DEVICE_API,
	DEVICE_NAME,
	DEVICE_DRIVER,
	DEVICE_DRIVER_VERSION,
	DEVICE_BENEATH,
	DEVICE_SERIALIZED_BY,
	DEVICE_SOURCES,
	DEVICE_COUNTERS,
	DEVICE_METRICS,
	N_DEVICE_FIELDS,
};

static const struct tally_field device_fields[N_DEVICE_FIELDS] = {
	[DEVICE_TYPE] = TALLY_FIELD("type"),
	[DEVICE_DEVICE] = TALLY_FIELD("device"),
	[DEVICE_API] = TALLY_FIELD("api"),
	[DEVICE_NAME] = TALLY_FIELD("name"),
	[DEVICE_DRIVER] = TALLY_FIELD("driver"),
	[DEVICE_DRIVER_VERSION] = TALLY_FIELD("driver_version"),
	[DEVICE_BENEATH] = TALLY_FIELD("beneath"),
	[DEVICE_SERIALIZED_BY] = TALLY_FIELD("serialized_by"),
	[DEVICE_SOURCES] = TALLY_FIELD("sources"),
	[DEVICE_COUNTERS] = TALLY_FIELD("counters"),
	[DEVICE_METRICS] = TALLY_FIELD("metrics"),
};

enum {
	TARGET_WIDTH,
	TARGET_HEIGHT,
	TARGET_LAYERS,
	TARGET_SAMPLES,
	TARGET_COLOR,
	TARGET_DEPTH,
	TARGET_STENCIL,
	TARGET_LOAD,
	TARGET_STORE,
	TARGET_PRESENTED,
	N_TARGET_FIELDS,
};

static const struct tally_field target_fields[N_TARGET_FIELDS] = {
	[TARGET_WIDTH] = TALLY_FIELD("width"),     [TARGET_HEIGHT] = TALLY_FIELD("height"),
	[TARGET_LAYERS] = TALLY_FIELD("layers"),   [TARGET_SAMPLES] = TALLY_FIELD("samples"),
	[TARGET_COLOR] = TALLY_FIELD("color"),     [TARGET_DEPTH] = TALLY_FIELD("depth"),
	[TARGET_STENCIL] = TALLY_FIELD("stencil"), [TARGET_LOAD] = TALLY_FIELD("load"),
	[TARGET_STORE] = TALLY_FIELD("store"),     [TARGET_PRESENTED] = TALLY_FIELD("presented"),
};

enum { INFO_TYPE, INFO_ID, INFO_KIND, INFO_LABEL, INFO_TARGET, N_INFO_FIELDS };

static const struct tally_field info_fields[N_INFO_FIELDS] = {
	[INFO_TYPE] = TALLY_FIELD("type"),     [INFO_ID] = TALLY_FIELD("id"),
	[INFO_KIND] = TALLY_FIELD("kind"),     [INFO_LABEL] = TALLY_FIELD("label"),
	[INFO_TARGET] = TALLY_FIELD("target"),
};

static const char *
state_name(unsigned v)
{
	return v ? "on" : "off";
}

static bool
decode_source(struct tally_decoder *d)
{
	struct tally_object o = {
		.what = "a source",
		.fields = source_fields,
		.n_fields = N_SOURCE_FIELDS,
		.required = TALLY_BIT(SOURCE_NAME) | TALLY_BIT(SOURCE_STATE),
	};
	struct tally_source_info *source = tally_array_push(d, &d->sources, sizeof(*source));
	if (!source)
		return false;
	*source = (struct tally_source_info){ 0 };
	if (!tally_object_open(d, &o))
		return false;
	for (int field; (field = tally_object_next(d, &o)) >= 0;) {
		bool ok = true;
		unsigned state = 0;
		switch (field) {
		case SOURCE_NAME:
			ok = tally_decode_kept(d, &source->name);
			break;
		case SOURCE_STATE:
			ok = tally_decode_enum(d, state_name, 2, &state);
			source->on = state;
			break;
		case SOURCE_REASON:
			ok = tally_decode_text(d, &source->reason);
			break;
		}
		if (!ok)
			return tally_object_fail(d, &o);
	}
	return !d->json.failed;
}

static bool
decode_counter_field(struct tally_decoder *d, int field, struct tally_counter *counter)
{
	unsigned word = 0;
	bool ok;
	switch (field) {
	case COUNTER_KEY:
		return tally_decode_kept(d, &counter->key);
	case COUNTER_NAME:
		return tally_decode_text(d, &counter->name);
	case COUNTER_UNIT:
		return tally_decode_kept(d, &counter->unit);
	case COUNTER_SOURCE:
		return tally_decode_kept(d, &counter->source);
	case COUNTER_DESCRIPTION:
		return tally_decode_text(d, &counter->description);
	case COUNTER_KIND:
		ok = tally_decode_enum(d, tally_counter_kind_name, TALLY_N_KINDS, &word);
		counter->kind = word;
		return ok;
	default:
		ok = tally_decode_enum(d, tally_scope_name, TALLY_N_SCOPES, &word);
		counter->scope = word;
		return ok;
	}
}

static bool
decode_counter(struct tally_decoder *d)
{
	struct tally_object o = {
		.what = "a counter",
		.fields = counter_fields,
		.n_fields = N_COUNTER_FIELDS,
		.required = TALLY_BIT(COUNTER_KEY) | TALLY_BIT(COUNTER_KIND) |
			    TALLY_BIT(COUNTER_SCOPE),
	};
	struct tally_counter *counter = tally_array_push(d, &d->counter_infos, sizeof(*counter));
	if (!counter)
		return false;
	*counter = (struct tally_counter){ 0 };
	if (!tally_object_open(d, &o))
		return false;
	for (int field; (field = tally_object_next(d, &o)) >= 0;) {
		if (!decode_counter_field(d, field, counter))
			return tally_object_fail(d, &o);
	}
	return !d->json.failed;
}

static bool
decode_metric(struct tally_decoder *d)
{
	struct tally_object o = {
		.what = "a metric",
		.fields = metric_fields,
		.n_fields = N_METRIC_FIELDS,
		.required = TALLY_BIT(METRIC_KEY),
	};
	struct tally_metric_info *metric = tally_array_push(d, &d->metric_infos, sizeof(*metric));
	if (!metric)
		return false;
	*metric = (struct tally_metric_info){ 0 };
	if (!tally_object_open(d, &o))
		return false;
	for (int field; (field = tally_object_next(d, &o)) >= 0;) {
		bool ok = true;
		switch (field) {
		case METRIC_KEY:
			ok = tally_decode_kept(d, &metric->key);
			break;
		case METRIC_NAME:
			ok = tally_decode_text(d, &metric->name);
			break;
		case METRIC_UNIT:
			ok = tally_decode_kept(d, &metric->unit);
			break;
		case METRIC_EXPRESSION:
			ok = tally_decode_text(d, &metric->expression);
			break;
		case METRIC_DIALECT:
			ok = tally_decode_kept(d, &metric->dialect);
			break;
		}
		if (!ok)
			return tally_object_fail(d, &o);
	}
	return !d->json.failed;
}

static bool
decode_list(struct tally_decoder *d, bool (*item)(struct tally_decoder *d))
{
	if (!tally_json_open_array(&d->json))
		return false;
	while (tally_json_next_item(&d->json)) {
		if (!item(d))
			return false;
	}
	return !d->json.failed;
}

static bool
decode_device_field(struct tally_decoder *d, int field, struct tally_device_record *device)
{
	unsigned api = 0;
	bool ok;
	switch (field) {
	case DEVICE_TYPE:
		return tally_decode_type(d);
	case DEVICE_DEVICE:
		return tally_decode_u32(d, &device->device);
	case DEVICE_API:
		ok = tally_decode_enum(d, tally_api_name, TALLY_N_APIS, &api);
		device->api = api;
		return ok;
	case DEVICE_NAME:
		return tally_decode_text(d, &device->name);
	case DEVICE_DRIVER:
		return tally_decode_text(d, &device->driver);
	case DEVICE_DRIVER_VERSION:
		return tally_decode_text(d, &device->driver_version);
	case DEVICE_BENEATH:
		return tally_decode_number(d, &device->beneath);
	case DEVICE_SERIALIZED_BY:
		return tally_decode_text(d, &device->serialized_by);
	case DEVICE_SOURCES:
		return decode_list(d, decode_source);
	case DEVICE_COUNTERS:
		return decode_list(d, decode_counter);
	default:
		return decode_list(d, decode_metric);
	}
}

/* Records want pointers to counters, which stay where they are from now on. */
static bool
attach_counters(struct tally_decoder *d, struct tally_device_record *device)
{
	const struct tally_counter *counters = d->counter_infos.items;
	for (size_t i = 0; i < d->counter_infos.n; i++) {
		const struct tally_counter **pointer = tally_array_push(
			d, &d->counter_pointers, sizeof(const struct tally_counter *));
		if (!pointer)
			return false;
		*pointer = &counters[i];
	}
	device->counters = tally_array_items(&d->counter_pointers);
	device->n_counters = (uint32_t)d->counter_pointers.n;
	return true;
}

bool
tally_decode_device(struct tally_decoder *d, struct tally_device_record *device)
{
	struct tally_object o = {
		.what = "a device",
		.fields = device_fields,
		.n_fields = N_DEVICE_FIELDS,
		.required = TALLY_BIT(DEVICE_DEVICE) | TALLY_BIT(DEVICE_API) |
			    TALLY_BIT(DEVICE_SOURCES) | TALLY_BIT(DEVICE_COUNTERS),
	};
	*device = (struct tally_device_record){ .beneath = -1 };
	d->sources.n = 0;
	d->counter_infos.n = 0;
	d->counter_pointers.n = 0;
	d->metric_infos.n = 0;
	if (!tally_object_open(d, &o))
		return false;
	for (int field; (field = tally_object_next(d, &o)) >= 0;) {
		if (!decode_device_field(d, field, device))
			return tally_object_fail(d, &o);
	}
	if (d->json.failed || !tally_json_end(&d->json) || !attach_counters(d, device))
		return false;
	device->sources = tally_array_items(&d->sources);
	device->n_sources = (uint32_t)d->sources.n;
	device->metrics = tally_array_items(&d->metric_infos);
	device->n_metrics = (uint32_t)d->metric_infos.n;
	if (tally_numbers_add(&d->devices, device->device))
		return true;
	if (d->devices.n < TALLY_MAX_NUMBERS)
		return tally_decode_fail_memory(d);
	tally_json_fail(&d->json, o.where, "more than %u devices in one log", TALLY_MAX_NUMBERS);
	return false;
}

static bool
decode_color(struct tally_decoder *d, struct tally_target *target)
{
	if (!tally_json_open_array(&d->json))
		return false;
	while (tally_json_next_item(&d->json)) {
		const char *format = NULL;
		bool absent = tally_json_peek(&d->json) == 'n';
		if (absent ? !tally_json_read_null(&d->json) : !tally_decode_kept(d, &format))
			return false;
		if (target->n_color == TALLY_MAX_COLOR) {
			tally_json_fail(&d->json, d->json.at, "more than %d color attachments",
					TALLY_MAX_COLOR);
			return false;
		}
		target->color[target->n_color++].format = format;
	}
	return !d->json.failed;
}

static bool
decode_target_field(struct tally_decoder *d, int field, struct tally_pass_info_record *info)
{
	struct tally_target *target = &info->target;
	unsigned word = 0;
	bool ok;
	switch (field) {
	case TARGET_WIDTH:
		return tally_decode_u32(d, &target->width);
	case TARGET_HEIGHT:
		return tally_decode_u32(d, &target->height);
	case TARGET_LAYERS:
		return tally_decode_u32(d, &target->layers);
	case TARGET_SAMPLES:
		return tally_decode_u32(d, &target->samples);
	case TARGET_COLOR:
		return decode_color(d, target);
	case TARGET_DEPTH:
		return tally_decode_kept(d, &target->depth.format);
	case TARGET_STENCIL:
		return tally_decode_kept(d, &target->stencil.format);
	case TARGET_LOAD:
		ok = tally_decode_enum(d, tally_load_op_name, TALLY_N_LOAD_OPS, &word);
		info->load = word;
		return ok;
	case TARGET_STORE:
		ok = tally_decode_enum(d, tally_store_op_name, TALLY_N_STORE_OPS, &word);
		info->store = word;
		return ok;
	default:
		return tally_json_read_bool(&d->json, &target->presented);
	}
}

static bool
decode_target(struct tally_decoder *d, struct tally_pass_info_record *info)
{
	struct tally_object o = {
		.what = "a target",
		.fields = target_fields,
		.n_fields = N_TARGET_FIELDS,
	};
	if (!tally_object_open(d, &o))
		return false;
	for (int field; (field = tally_object_next(d, &o)) >= 0;) {
		if (!decode_target_field(d, field, info))
			return tally_object_fail(d, &o);
	}
	return !d->json.failed;
}

static bool
decode_info_field(struct tally_decoder *d, int field, struct tally_pass_info_record *info)
{
	unsigned kind = 0;
	bool ok;
	switch (field) {
	case INFO_TYPE:
		return tally_decode_type(d);
	case INFO_ID:
		return tally_decode_id(d, &info->id);
	case INFO_KIND:
		ok = tally_decode_enum(d, tally_pass_kind_name, TALLY_N_PASS_KINDS, &kind);
		info->kind = kind;
		return ok;
	case INFO_LABEL:
		return tally_decode_text(d, &info->label);
	default:
		return decode_target(d, info);
	}
}

bool
tally_decode_pass_info(struct tally_decoder *d, struct tally_pass_info_record *info)
{
	struct tally_object o = {
		.what = "a pass_info line",
		.fields = info_fields,
		.n_fields = N_INFO_FIELDS,
		.required = TALLY_BIT(INFO_ID) | TALLY_BIT(INFO_KIND) | TALLY_BIT(INFO_TARGET),
	};
	*info = (struct tally_pass_info_record){ 0 };
	if (!tally_object_open(d, &o))
		return false;
	for (int field; (field = tally_object_next(d, &o)) >= 0;) {
		if (!decode_info_field(d, field, info))
			return tally_object_fail(d, &o);
	}
	if (d->json.failed || !tally_json_end(&d->json))
		return false;
	if (tally_numbers_add(&d->ids, info->id) || d->ids.n == TALLY_MAX_NUMBERS)
		return true;
	return tally_decode_fail_memory(d);
}
