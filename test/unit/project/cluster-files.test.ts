import { describe, expect, it } from 'vitest';
import { composeFaults, composeTexts } from '../../support/project/compose-file.ts';
import { imageFacts } from '../../support/project/image-facts.ts';
import {
  type KubernetesTexts,
  kubernetesFaults,
  kubernetesTexts,
} from '../../support/project/kubernetes-files.ts';

/** The text with one change, which must be one. */
function changed(text: string, from: string, to: string): string {
  expect(text).toContain(from);
  return text.replaceAll(from, to);
}

/** How ops/compose.yml asks for a secret. */
function asked(name: string): string {
  return `\${${name}:?is not set}`;
}

describe('the facts that the files are held against', () => {
  it('are found', () => {
    expect(imageFacts).toMatchObject({ version: expect.stringMatching(/^\d/), port: 3001, dataDir: '/data' });
    expect([...imageFacts.variables]).toEqual(
      expect.arrayContaining(['AGENT_SERVICE_STORE', 'AGENT_SERVICE_BUS', 'AGENT_SERVICE_SECRET_KEY']),
    );
    expect([...imageFacts.paths]).toEqual(['/healthz', '/readyz', '/metrics']);
    expect([...imageFacts.flags]).toEqual(expect.arrayContaining(['--agent', '--config']));
    expect(imageFacts.postgres).toBeGreaterThan(9);
  });
});

describe('ops/kubernetes', () => {
  it('is what Kubernetes and the service expect', () => {
    expect(kubernetesFaults(kubernetesTexts)).toEqual([]);
  });

  const faults: readonly (readonly [string, keyof KubernetesTexts, string, string])[] = [
    ['unknown field', 'deployment', 'readinessProbe:', 'readynessProbe:'],
    ['unknown field', 'service', 'sessionAffinity:', 'stickiness:'],
    [
      'required',
      'deployment',
      '  selector:\n    matchLabels:\n      app.kubernetes.io/name: agent-service\n',
      '',
    ],
    ['type', 'deployment', 'replicas: 3', 'replicas: three'],
    ['type', 'config', '  service.yml: |\n    auth:', '  service.yml:\n    auth:'],
    ['no kind that is known', 'budget', 'policy/v1', 'policy/v1beta1'],
    [
      'the Deployment finds no pod',
      'deployment',
      '  selector:\n    matchLabels:\n      app.kubernetes.io/name: agent-service',
      '  selector:\n    matchLabels:\n      app.kubernetes.io/name: agent',
    ],
    [
      'the spreading finds no pod',
      'deployment',
      '            matchLabels:\n              app.kubernetes.io/name: agent-service',
      '            matchLabels:\n              app.kubernetes.io/name: agent',
    ],
    [
      'the Service finds no pod',
      'service',
      '  selector:\n    app.kubernetes.io/name: agent-service',
      '  selector:\n    app: agent-service',
    ],
    [
      'the PodDisruptionBudget finds no pod',
      'budget',
      '      app.kubernetes.io/name: agent-service',
      '      app: agent-service',
    ],
    ['fewer than three', 'deployment', 'replicas: 3', 'replicas: 2'],
    ['drained at once', 'budget', 'maxUnavailable: 1', 'maxUnavailable: 2'],
    ['before its successor', 'deployment', 'maxUnavailable: 0', 'maxUnavailable: 1'],
    ['preStop does not wait', 'deployment', 'sleep, "5"', 'sleep, "0"'],
    ['grace period', 'deployment', 'terminationGracePeriodSeconds: 30', 'terminationGracePeriodSeconds: 15'],
    ['grace period', 'config', 'drainTimeoutMs: 10000', 'drainTimeoutMs: 30000'],
    ['listens on another port', 'deployment', 'containerPort: 3001', 'containerPort: 3000'],
    [
      'Prometheus asks another port',
      'deployment',
      'prometheus.io/port: "3001"',
      'prometheus.io/port: "9090"',
    ],
    ['Prometheus asks for /prometheus', 'deployment', 'path: /metrics', 'path: /prometheus'],
    ['keeps clients', 'service', 'sessionAffinity: None', 'sessionAffinity: ClientIP'],
    ['names the port web', 'service', 'targetPort: http', 'targetPort: web'],
    ['not of this version', 'deployment', `agent-service:${imageFacts.version}\n`, 'agent-service:latest\n'],
    ['readinessProbe asks for /healthz', 'deployment', 'path: /readyz', 'path: /healthz'],
    ['livenessProbe asks for /readyz', 'deployment', 'path: /healthz', 'path: /readyz'],
    ['startupProbe asks for /healthy', 'deployment', 'path: /healthz', 'path: /healthy'],
    ['asks the port web', 'deployment', 'port: http}', 'port: web}'],
    ['gives up before', 'deployment', 'timeoutSeconds: 3', 'timeoutSeconds: 1'],
    [
      'knows no AGENT_SERVICE_DATABASE',
      'deployment',
      'name: AGENT_SERVICE_STORE',
      'name: AGENT_SERVICE_DATABASE',
    ],
    ['AGENT_SERVICE_BUS is missing', 'deployment', 'name: AGENT_SERVICE_BUS', 'name: NATS_URL'],
    ['nothing for AGENT_SERVICE_STORE', 'deployment', 'key: store', 'key: database'],
    ['nothing for AGENT_SERVICE_SECRET_KEY', 'secret', 'secret-key:', 'secretKey:'],
    ['nothing for OPENAI_API_KEY', 'secret', '  name: agent-service', '  name: agent-secrets'],
    ['names of Services', 'deployment', 'enableServiceLinks: false', 'enableServiceLinks: true'],
    ['knows no --service', 'deployment', '--config', '--service'],
    [
      'has no /etc/agent-service/agent.yaml',
      'deployment',
      'agent-service/agent.yml',
      'agent-service/agent.yaml',
    ],
    [
      'the ConfigMap has no /etc/agent-service/agent.yml',
      'deployment',
      'configMap:\n            name: agent-service',
      'configMap:\n            name: other',
    ],
    [
      'no volume scratch',
      'deployment',
      '- name: tmp\n              mountPath',
      '- name: scratch\n              mountPath',
    ],
    ['written to /data', 'deployment', 'mountPath: /data', 'mountPath: /var/data'],
    ['authenticates nobody', 'config', 'apiKeys: true', 'apiKeys: false'],
    ['as root', 'deployment', 'runAsNonRoot: true', 'runAsNonRoot: false'],
    ['a token', 'deployment', 'automountServiceAccountToken: false', 'automountServiceAccountToken: true'],
    ['more rights', 'deployment', 'readOnlyRootFilesystem: true', 'readOnlyRootFilesystem: false'],
    ['has the secret hunter2', 'secret', 'agent:PASSWORD@postgres', 'agent:hunter2@postgres'],
    ['has the secret hunter2', 'secret', 'secret-key: PASSWORD', 'secret-key: hunter2'],
  ];

  it.each(faults)('would be found wrong: %s (%s)', (fault, file, from, to) => {
    const texts = { ...kubernetesTexts, [file]: changed(kubernetesTexts[file], from, to) };
    expect(faultsOf(() => kubernetesFaults(texts))).toContain(fault);
  });
});

describe('ops/compose.yml', () => {
  it('is what Compose, the balancer and the service expect', () => {
    expect(composeFaults(composeTexts)).toEqual([]);
  });

  const faults: readonly (readonly [string, keyof typeof composeTexts, string, string])[] = [
    ['must NOT have additional properties', 'compose', 'depends_on:', 'dependson:'],
    ['must be', 'compose', 'cap_drop: [ALL]', 'cap_drop: ALL'],
    ['fewer than three', 'compose', '  node3: *node\n', ''],
    ['knows no AGENT_SERVICE_NATS', 'compose', 'AGENT_SERVICE_SECRET_KEY:', 'AGENT_SERVICE_NATS:'],
    ['knows no --agents', 'compose', '[--agent,', '[--agents,'],
    ['not mounted', 'compose', ':/etc/agent-service/agent.yml:ro', ':/etc/agent.yml:ro'],
    ['its database is another', 'compose', 'POSTGRES_DB: agents', 'POSTGRES_DB: other'],
    ['its database is another', 'compose', '@postgres:5432', '@database:5432'],
    ['its user of NATS', 'compose', '--user, agent', '--user, nats'],
    [
      'PGPASSWORD is not asked for',
      'compose',
      `PGPASSWORD: ${asked('POSTGRES_PASSWORD')}`,
      'PGPASSWORD: hunter2',
    ],
    ['AGENT_SERVICE_SECRET_KEY is not asked for', 'compose', asked('AGENT_SERVICE_SECRET_KEY'), 'hunter2'],
    ['password of NATS is not asked for', 'compose', asked('NATS_PASSWORD'), 'hunter2'],
    [
      'password of PostgreSQL is not asked for',
      'compose',
      `POSTGRES_PASSWORD: ${asked('POSTGRES_PASSWORD')}`,
      'POSTGRES_PASSWORD: hunter2',
    ],
    ['no Dockerfile', 'compose', 'build: ..', 'build: .'],
    ['the image listens on another port', 'compose', 'expose: ["3001"]', 'expose: ["3000"]'],
    ['its health', 'compose', 'ops/healthcheck.js', 'ops/health.js'],
    [
      'after it has lost its lease',
      'compose',
      'restart: unless-stopped\n  # Longer',
      'restart: "no"\n  # Longer',
    ],
    [
      'not started again',
      'compose',
      'restart: unless-stopped\n    stop_grace_period',
      'restart: "no"\n    stop_grace_period',
    ],
    ['killed after 10s', 'compose', 'stop_grace_period: 20s', 'stop_grace_period: 10s'],
    ['waits for broker', 'compose', 'nats: {condition', 'broker: {condition'],
    ['mounts ./nginx.conf', 'compose', './haproxy.cfg', './nginx.conf'],
    ['mounts data', 'compose', '- postgres:/var', '- data:/var'],
    ['knows other nodes', 'compose', '  node3: *node\n', '  node3: *node\n  node4: *node\n'],
    ['knows other nodes', 'balancer', 'node2:3001', 'node2:3000'],
    ['the balancer listens on another port', 'balancer', 'bind :3001', 'bind :8080'],
    ['without TLS', 'compose', '"127.0.0.1:3001:3001"', '"3001:3001"'],
    ['asks for /healthz', 'balancer', 'uri /readyz', 'uri /healthz'],
    ['keeps clients', 'balancer', 'balance leastconn', 'balance source'],
    ['closes silent', 'balancer', 'timeout tunnel 1h', 'timeout tunnel 30s'],
    ['PostgreSQL 14 is too old', 'compose', 'postgres:17', 'postgres:14'],
  ];

  it.each(faults)('would be found wrong: %s (%s)', (fault, file, from, to) => {
    const texts = { ...composeTexts, [file]: changed(composeTexts[file], from, to) };
    expect(faultsOf(() => composeFaults(texts))).toContain(fault);
  });
});

/** In one text, also what keeps the files from being read. */
function faultsOf(check: () => string[]): string {
  try {
    return check().join('\n');
  } catch (error) {
    return String(error);
  }
}
