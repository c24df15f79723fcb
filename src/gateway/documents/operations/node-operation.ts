import { scopeOf } from '../../../ports/request-rules.ts';
import { NodesResponse } from '../../../wire/responses.ts';
import { JSON_TYPE, type Operation, ok } from './operation.ts';

export const nodeOperation: Operation = {
  id: 'listNodes',
  scope: scopeOf('node.list'),
  method: 'GET',
  path: '/api/nodes',
  tag: 'Service',
  summary: 'The nodes of the cluster',
  description:
    'Services that share a log (`--store` and `--bus`) are the nodes of a cluster, and any of them answers for all. A node that is gone is listed until its lease has ended. A service that has its log to itself lists none.',
  answers: { [JSON_TYPE]: NodesResponse },
  errors: [],
  examples: [{ name: 'none', summary: 'A service that has its log to itself', answer: ok({ nodes: [] }) }],
};
