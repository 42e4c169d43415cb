import Dowel
