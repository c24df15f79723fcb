/* The plain control with as much on board as the service has. */
import './same-packages.ts';
import './plain.ts';
