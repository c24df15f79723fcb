import { parse } from 'yaml';
import { z } from 'zod';
import { parseBusUrl } from '../../../src/config/addresses/bus-url.ts';
import { parseStoreUrl } from '../../../src/config/addresses/store-url.ts';
import { parseAgentFile } from '../../../src/config/reading/agent-file.ts';
import { ServiceConfig } from '../../../src/config/schema/service-config.ts';
import { readDocument } from '../documents/documents.ts';
import { imageFacts, unknownVariables } from './image-facts.ts';
import { kubernetesSchemaFaults } from './manifest-schemas.ts';

const names = {
  deployment: 'deployment.yml',
  service: 'service.yml',
  budget: 'pod-disruption-budget.yml',
  config: 'config-map.yml',
  secret: 'secret.yml.example',
} as const;
export type KubernetesTexts = Readonly<Record<keyof typeof names, string>>;

export const kubernetesTexts: KubernetesTexts = {
  deployment: readDocument(`ops/kubernetes/${names.deployment}`),
  service: readDocument(`ops/kubernetes/${names.service}`),
  budget: readDocument(`ops/kubernetes/${names.budget}`),
  config: readDocument(`ops/kubernetes/${names.config}`),
  secret: readDocument(`ops/kubernetes/${names.secret}`),
};

const Labels = z.record(z.string(), z.string());
const Selector = z.object({ matchLabels: Labels });
const Named = z.object({ name: z.string() });
const Probe = z.object({
  httpGet: z.object({ path: z.string(), port: z.string() }),
  timeoutSeconds: z.int(),
});

const Container = z.object({
  image: z.string(),
  args: z.array(z.string()),
  ports: z.array(Named.extend({ containerPort: z.int() })),
  env: z.array(
    Named.extend({
      valueFrom: z.object({ secretKeyRef: Named.extend({ key: z.string() }) }).optional(),
    }),
  ),
  startupProbe: Probe,
  readinessProbe: Probe,
  livenessProbe: Probe,
  lifecycle: z.object({ preStop: z.object({ exec: z.object({ command: z.array(z.string()) }) }) }),
  resources: z.object({ requests: Labels, limits: z.object({ memory: z.string() }) }),
  securityContext: z.unknown(),
  volumeMounts: z.array(Named.extend({ mountPath: z.string() })),
});
type Container = z.infer<typeof Container>;

const Deployment = z.object({
  spec: z.object({
    replicas: z.int(),
    strategy: z.object({ rollingUpdate: z.unknown() }),
    selector: Selector,
    template: z.object({
      metadata: z.object({ labels: Labels, annotations: Labels }),
      spec: z.object({
        terminationGracePeriodSeconds: z.int(),
        enableServiceLinks: z.boolean(),
        automountServiceAccountToken: z.boolean(),
        securityContext: z.object({ runAsNonRoot: z.boolean() }),
        topologySpreadConstraints: z.array(z.object({ labelSelector: Selector })),
        containers: z.tuple([Container]),
        volumes: z.array(Named.extend({ configMap: Named.optional() })),
      }),
    }),
  }),
});
const Service = z.object({
  spec: z.object({
    sessionAffinity: z.string(),
    selector: Labels,
    ports: z.array(z.object({ targetPort: z.string() })),
  }),
});
const Budget = z.object({ spec: z.object({ maxUnavailable: z.int(), selector: Selector }) });
const ConfigMap = z.object({ metadata: Named, data: Labels });
const Secret = z.object({ metadata: Named, stringData: Labels });

/** The files as far as they must agree with each other. */
interface Manifests {
  readonly deployment: z.infer<typeof Deployment>['spec'];
  readonly container: Container;
  readonly service: z.infer<typeof Service>['spec'];
  readonly budget: z.infer<typeof Budget>['spec'];
  readonly config: z.infer<typeof ConfigMap>;
  readonly secret: z.infer<typeof Secret>;
}

/** What is wrong with the files of ops/kubernetes. */
export function kubernetesFaults(texts: KubernetesTexts): string[] {
  const documents = Object.values(texts).map((text): unknown => parse(text));
  const faults = documents.flatMap(kubernetesSchemaFaults);
  if (faults.length > 0) return faults;
  const deployment = Deployment.parse(parse(texts.deployment)).spec;
  const manifests = {
    deployment,
    container: deployment.template.spec.containers[0],
    service: Service.parse(parse(texts.service)).spec,
    budget: Budget.parse(parse(texts.budget)).spec,
    config: ConfigMap.parse(parse(texts.config)),
    secret: Secret.parse(parse(texts.secret)),
  };
  const checks = [labels, rollout, network, probes, environment, files, privileges, placeholders];
  return checks.flatMap((check) => check(manifests));
}

function labels({ deployment, service, budget }: Manifests): string[] {
  const { metadata, spec } = deployment.template;
  const selectors = {
    'the Deployment': deployment.selector.matchLabels,
    'the Service': service.selector,
    'the PodDisruptionBudget': budget.selector.matchLabels,
    ...Object.fromEntries(
      spec.topologySpreadConstraints.map((one) => ['the spreading', one.labelSelector.matchLabels]),
    ),
  };
  return Object.entries(selectors)
    .filter(([, wanted]) => !isWithin(wanted, metadata.labels))
    .map(([of]) => `the selector of ${of} finds no pod`);
}

function isWithin(
  wanted: Readonly<Record<string, string>>,
  found: Readonly<Record<string, string>>,
): boolean {
  const entries = Object.entries(wanted);
  return entries.length > 0 && entries.every(([key, value]) => found[key] === value);
}

function rollout({ deployment, container, budget, config }: Manifests): string[] {
  const { rollingUpdate } = deployment.strategy;
  const [sleep, seconds] = container.lifecycle.preStop.exec.command;
  const { drainTimeoutMs } = agentOf(config).server;
  const least = Number(seconds) + drainTimeoutMs / 1_000;
  return [
    ...when(deployment.replicas < 3, 'there are fewer than three nodes'),
    ...when(budget.maxUnavailable !== 1, 'several nodes may be drained at once'),
    ...when(
      JSON.stringify(rollingUpdate) !== '{"maxUnavailable":0,"maxSurge":1}',
      'a node ends before its successor is ready',
    ),
    ...when(sleep !== 'sleep' || !(Number(seconds) > 0), 'preStop does not wait'),
    ...when(
      !(deployment.template.spec.terminationGracePeriodSeconds > least),
      `the grace period is not longer than preStop and drain, ${least} s`,
    ),
  ];
}

function network({ deployment, container, service }: Manifests): string[] {
  const { annotations } = deployment.template.metadata;
  const ports = container.ports.map(({ name }) => name);
  const path = annotations['prometheus.io/path'];
  return [
    ...when(container.ports[0]?.containerPort !== imageFacts.port, 'the image listens on another port'),
    ...when(Number(annotations['prometheus.io/port']) !== imageFacts.port, 'Prometheus asks another port'),
    ...when(!imageFacts.paths.has(path), `Prometheus asks for ${path}`),
    ...when(service.sessionAffinity !== 'None', 'the Service keeps clients at one node'),
    ...service.ports
      .filter(({ targetPort }) => !ports.includes(targetPort))
      .map(({ targetPort }) => `the Service names the port ${targetPort}`),
    ...when(
      !container.image.endsWith(`/agent-service:${imageFacts.version}`),
      `the image ${container.image} is not of this version`,
    ),
  ];
}

function probes({ container }: Manifests): string[] {
  const ports = container.ports.map(({ name }) => name);
  const wanted = { startupProbe: '/healthz', livenessProbe: '/healthz', readinessProbe: '/readyz' } as const;
  return Object.entries(wanted).flatMap(([name, path]) => {
    const { httpGet, timeoutSeconds } =
      container[z.enum(Object.keys(wanted) as (keyof typeof wanted)[]).parse(name)];
    return [
      ...when(
        !imageFacts.paths.has(httpGet.path) || httpGet.path !== path,
        `${name} asks for ${httpGet.path}`,
      ),
      ...when(!ports.includes(httpGet.port), `${name} asks the port ${httpGet.port}`),
      ...when(timeoutSeconds < 2, `${name} gives up before the service does`),
    ];
  });
}

function environment({ deployment, container, secret }: Manifests): string[] {
  const given = container.env.map(({ name }) => name);
  const needed = ['AGENT_SERVICE_STORE', 'AGENT_SERVICE_BUS', 'AGENT_SERVICE_SECRET_KEY'];
  return [
    ...unknownVariables(given).map((name) => `the service knows no ${name}`),
    ...needed.filter((name) => !given.includes(name)).map((name) => `${name} is missing`),
    ...container.env.flatMap(({ name, valueFrom }) => {
      const of = valueFrom?.secretKeyRef;
      const isThere = !of || (of.name === secret.metadata.name && of.key in secret.stringData);
      return when(!isThere, `the Secret has nothing for ${name}`);
    }),
    ...when(deployment.template.spec.enableServiceLinks, 'names of Services become variables of the service'),
  ];
}

/** Whether the service finds and accepts its files, and can write where it must. */
function files({ deployment, container, config }: Manifests): string[] {
  const { volumes } = deployment.template.spec;
  const mounts = container.volumeMounts.map(({ mountPath }) => mountPath);
  const folder = container.volumeMounts.find(({ name }) =>
    volumes.some((volume) => volume.name === name && volume.configMap?.name === config.metadata.name),
  )?.mountPath;
  const found = Object.keys(config.data).map((name) => `${folder}/${name}`);
  const auth = ServiceConfig.safeParse(parse(config.data['service.yml'] ?? '')).data?.auth;
  const flags = container.args.filter((arg) => arg.startsWith('-'));
  return [
    ...flags.filter((flag) => !imageFacts.flags.has(flag)).map((flag) => `the service knows no ${flag}`),
    ...container.args
      .filter((arg) => !arg.startsWith('-') && !found.includes(arg))
      .map((file) => `the ConfigMap has no ${file}`),
    ...container.volumeMounts
      .filter(({ name }) => !volumes.some((volume) => volume.name === name))
      .map(({ name }) => `there is no volume ${name}`),
    ...[imageFacts.dataDir, '/tmp']
      .filter((path) => !mounts.includes(path))
      .map((path) => `nothing can be written to ${path}`),
    ...when(!auth?.apiKeys, 'the service would refuse to listen, because it authenticates nobody'),
  ];
}

function privileges({ deployment, container }: Manifests): string[] {
  const { securityContext, automountServiceAccountToken } = deployment.template.spec;
  const wanted = {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  };
  return [
    ...when(!securityContext.runAsNonRoot, 'the pod may run as root'),
    ...when(automountServiceAccountToken, 'the pod has a token of the cluster'),
    ...when(
      JSON.stringify(container.securityContext) !== JSON.stringify(wanted),
      'the container has more rights than it needs',
    ),
  ];
}

function placeholders({ secret }: Manifests): string[] {
  const { store = '', bus = '', ...others } = secret.stringData;
  const passwords = [new URL(parseStoreUrl(store).connectionString).password, parseBusUrl(bus).password];
  return [...passwords, ...Object.values(others)]
    .filter((value) => value !== 'PASSWORD')
    .map((value) => `the example has the secret ${value}`);
}

function agentOf({ data }: Manifests['config']) {
  return parseAgentFile(data['agent.yml'] ?? '', 'agent.yml', { OPENAI_API_KEY: 'sk-1' }).config;
}

function when(isWrong: boolean, fault: string): string[] {
  return isWrong ? [fault] : [];
}
